#pragma once
// When a group will have room for one more job, if every estimate is right and its queue goes first come, first served:
// list scheduling on the group's cores, GPUs and memory, wherever in the group they lie. Gaps ahead of a queued job
// that backfilling may fill aren't seen: with it, starts are on the late side.

#include <cstdint>
#include <vector>

#include "fleet/jobs/cluster.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

// One resource: so many like slots.
class SlotBacklog {
 public:
  explicit SlotBacklog(int64_t slots) : slots_(slots) {}

  int64_t slots() const { return slots_; }
  void reset(double now_s);  // all free from then on
  // When so many slots are free together at the earliest; infinite where there are fewer.
  double start_s(int64_t slots, double now_s) const;
  // Those that come free first are held until then; not more than there are.
  void hold(int64_t slots, double until_s);

 private:
  struct Release {  // so many slots come free at that time
    double at_s;
    int64_t slots;
  };
  static bool later(const Release& a, const Release& b) { return a.at_s > b.at_s; }
  void push(double at_s, int64_t slots);
  int64_t slots_;
  mutable std::vector<Release> heap_;  // the earliest in front
};

class Backlog {
 public:
  // `in_order`: nobody in the queue overtakes; otherwise it is backfilled.
  Backlog(const NodeGroup& group, bool in_order);

  // Nothing runs and nothing waits.
  void reset(double now_s);
  void run(const JobRequest& job, double until_s);
  // Earliest start of the job behind all that was queued; infinite where the group is too small.
  double start_s(const JobRequest& job, double now_s) const;
  void queue(const JobRequest& job, double duration_s, double now_s);

 private:
  int64_t memory_units(const JobRequest& job) const;
  void hold(const JobRequest& job, double until_s);
  SlotBacklog cores_, gpus_, memory_;
  double unit_bytes_;  // of memory_: 2^-20 of the group's; NaN where that isn't known
  bool in_order_;
  double last_start_s_ = 0;
};

}  // namespace perfcast::fleet
