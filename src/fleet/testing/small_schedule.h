#pragma once
// Five jobs on two platforms, small enough to follow by hand.

#include "fleet/jobs/cluster.h"
#include "fleet/jobs/outcome.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

// fast: 1 node of 8 cores; slow: 2 nodes of 4 cores.
inline Cluster small_cluster() {
  Cluster cluster;
  NodeGroup slow, fast;
  slow.platform = "slow";
  slow.nodes = 2;
  slow.cores_per_node = 4;
  slow.idle_w_per_node = 100;
  slow.busy_w_per_node = 200;
  slow.price_per_node_hour = 3.6;
  fast.platform = "fast";
  fast.nodes = 1;
  fast.cores_per_node = 8;
  fast.idle_w_per_node = 50;
  fast.busy_w_per_node = 130;
  fast.price_per_node_hour = 7.2;
  cluster.groups = {slow, fast};
  cluster.currency = "EUR";
  return cluster;
}

inline Workload small_workload() {
  Workload workload;
  workload.platforms = {"fast", "slow"};  // in another order than the cluster's
  workload.owners = {"ada", "bob"};
  workload.programs = {"gzip", "<fft>"};
  workload.source = "by hand";
  const auto job = [&](int64_t id, double arrival_s, int32_t cores, int32_t owner, double fast_s, double slow_s) {
    JobRequest request;
    request.id = id;
    request.arrival_s = arrival_s;
    request.cores = cores;
    request.owner = owner;
    request.program = owner;
    workload.jobs.push_back(request);
    workload.time_s.insert(workload.time_s.end(), {fast_s, slow_s});
  };
  job(11, 0, 4, 0, 50, 100);
  job(12, 10, 2, 0, 40, 80);
  job(13, 20, 8, 1, 200, kUnknown);
  job(14, 30, 4, 1, 10, 20);
  job(15, 40, 64, 0, 10, 20);
  workload.jobs[0].deadline_s = 100;
  workload.jobs[1].limit_s = 40;
  workload.jobs[2].deadline_s = 200;
  workload.jobs[3].deadline_s = 300;
  workload.jobs[3].cancelled_s = 90;
  return workload;
}

// Job 11 on slow 0 .. 100, 12 on slow 20 .. 60 and killed, 13 on fast 20 .. 220; 14 gives up, 15 fits nowhere.
inline Outcome small_outcome(const char* policy = "fcfs") {
  Outcome outcome;
  outcome.policy = policy;
  outcome.jobs = {{0, 100, 0, 100, 0, JobState::kDone},
                  {20, 60, 10, 40, 0, JobState::kKilled},
                  {20, 220, 20, 200, 1, JobState::kDone},
                  {kUnknown, kUnknown, 30, 0, kNoIndex, JobState::kCancelled},
                  {kUnknown, kUnknown, 40, 0, kNoIndex, JobState::kImpossible}};
  outcome.segments = {{0, 0, 0, 100, 0, 1}, {1, 0, 20, 60, 1, 1}, {2, 1, 20, 220, 2, 1}};
  outcome.parts = {{0, 4, 0}, {1, 2, 0}, {0, 8, 0}};
  return outcome;
}

}  // namespace perfcast::fleet
