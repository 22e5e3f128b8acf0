#pragma once
// What the parts of the simulator share: running jobs, waiting jobs, groups. Internal to simulator.cc, placement.cc and
// backfill.cc.

#include <cstdint>
#include <vector>

#include "fleet/policy/node_pool.h"

namespace perfcast::fleet {

struct RunningJob {
  int32_t job = kNoIndex;
  int32_t group = kNoIndex;
  double start_s = 0;
  double believed_end_s = 0;
  TaskShape shape{JobRequest{}};
  std::vector<NodePart> parts;
};

struct BelievedEnd {
  double at_s;
  int32_t slot;  // into SimulationState::running
  bool operator<(const BelievedEnd& other) const {
    return at_s < other.at_s || (at_s == other.at_s && slot < other.slot);
  }
};

struct GroupState {
  explicit GroupState(const NodeGroup& group) : pool(group) {}
  NodePool pool;
  std::vector<BelievedEnd> ends;  // of what runs here, sorted
  int64_t waiting = 0;            // jobs in the queue that may start here
};

struct WaitingJob {
  int32_t job = kNoIndex;  // kNoIndex: started or gone
  uint64_t groups = 0;     // where it may start, one bit each
  double key = 0;          // order of the queue where it is not that of arrival
  TaskShape shape{JobRequest{}};
};

struct SimulationState {
  double now_s = 0;
  std::vector<GroupState> groups;
  std::vector<RunningJob> running;  // slots, reused
  std::vector<WaitingJob> queue;    // in the order in which jobs are looked at; gone ones until the next tidying
  size_t first = 0;                 // nothing waits before it
};

}  // namespace perfcast::fleet
