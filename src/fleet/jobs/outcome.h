#pragma once
// What became of every job under one policy, and what it cost.

#include <cstdint>
#include <string>
#include <vector>

#include "fleet/jobs/cluster.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

enum class JobState : uint8_t {
  kDone,
  kKilled,      // ran into its limit
  kCancelled,   // gave up before it started
  kImpossible,  // fits no node, or can run on no platform of the cluster
};

struct JobResult {
  double start_s = kUnknown;  // of its first segment; NaN: never started
  double end_s = kUnknown;    // of its last one
  double ready_s = kUnknown;  // when it could have started first: its arrival, or what its predecessor's end allowed
  double run_s = 0;           // sum over its segments: equals end - start unless it was preempted
  int32_t group = kNoIndex;   // of the cluster, where it ran last
  JobState state = JobState::kDone;
};

// One stretch of a job on nodes of one group. Without preemption a job has one.
struct Segment {
  int32_t job = kNoIndex;  // index into Workload::jobs
  int32_t group = kNoIndex;
  double start_s = 0, end_s = 0;
  // Where in the group: `parts` entries of Outcome::parts from `first_part` on. Round-based policies hold shares of a
  // group and name no nodes: no parts.
  uint32_t first_part = 0;
  uint32_t parts = 0;
};

// Cores and GPUs of one node that a segment holds.
struct NodePart {
  int32_t node = 0;  // within the group
  int32_t cores = 0;
  int32_t gpus = 0;
};

struct Outcome {
  std::string policy;
  std::vector<JobResult> jobs;    // as Workload::jobs
  std::vector<Segment> segments;  // in order of start; empty where not asked for
  std::vector<NodePart> parts;
  int64_t preemptions = 0;
  std::vector<std::string> notes;  // for people: what the policy could not do
};

}  // namespace perfcast::fleet
