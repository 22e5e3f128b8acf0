#pragma once
// Jobs to place: what they ask for, when they come, how long they take on each platform, and how long they are thought
// to take. Column-wise, so that a million jobs fit in memory.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/cluster.h"

namespace perfcast::fleet {

inline constexpr int32_t kNoIndex = -1;

// What a job asks for. Times are virtual, from the start of the trace.
struct JobRequest {
  int64_t id = 0;  // as its source numbers it; unique
  double arrival_s = 0;
  int32_t cores = 1;  // 0 only where gpus > 0
  int32_t gpus = 0;
  // Cores (and GPUs) may lie on several nodes of one group, as MPI ranks do; otherwise all on one node.
  bool spread = false;
  double memory_bytes = kUnknown;  // in total; of a spread job in proportion to the cores on each node
  double limit_s = kUnknown;       // the time asked for: the job is killed there; NaN: none
  double cancelled_s = kUnknown;   // gives up at this time unless started before; NaN: never
  double deadline_s = kUnknown;    // to be done by, from the start of the trace
  double priority = 1;             // weight of the job's share, above 0
  int32_t owner = kNoIndex;        // index into Workload::owners
  int32_t program = kNoIndex;      // index into Workload::programs: what the job runs
  // Index of a job that must have ended first (however it ended), and how long after its end this one comes at the
  // earliest (SWF fields 17 and 18).
  int32_t after = kNoIndex;
  double think_s = 0;
};

struct Workload {
  std::vector<std::string> platforms;  // J columns of the matrices
  std::vector<JobRequest> jobs;        // n, in order of arrival
  std::vector<double> time_s;          // [n x J] true run time; NaN: can't run there
  // What is thought before the job runs: [n x J] each, or empty. Without a forecast the request's limit stands for it,
  // without a limit policies that need one can't be used ("no-forecast").
  std::vector<double> forecast_s;
  std::vector<double> lower_s, upper_s;  // 90% interval of the forecast
  std::vector<double> energy_joules;  // [n x J] of the job alone, above the idle node; or empty: from the nodes' power
  std::vector<std::string> owners, programs;
  std::string source;              // for people: where the jobs came from
  std::vector<std::string> notes;  // for people: what its reader counted and mended

  size_t size() const { return jobs.size(); }
  std::span<const double> times(size_t job) const { return row(time_s, job); }
  std::span<const double> forecasts(size_t job) const { return row(forecast_s, job); }
  std::span<const double> row(const std::vector<double>& matrix, size_t job) const {
    if (matrix.empty()) return {};
    return {matrix.data() + job * platforms.size(), platforms.size()};
  }
};

// Puts the jobs in order of arrival (stable), with all that refers to them. Returns how many were out of order.
size_t sort_by_arrival(Workload& workload);

// "bad-workload": no job, matrices of another size, a negative or infinite time, negative arrival, no resources asked
// for, jobs out of order, a reference to a job that isn't there; "cyclic-dependency", naming the jobs of one cycle.
Status check_workload(const Workload& workload);

// [groups of the cluster] -> column of the workload. "missing-platform" names those of the cluster that the workload
// has no times for, and the platforms that it has.
Result<std::vector<int32_t>> match_platforms(const Cluster& cluster, const Workload& workload);

}  // namespace perfcast::fleet
