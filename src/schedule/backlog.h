#pragma once
// When a group will have room for one more job, if every estimate is right and its queue goes first come, first served:
// list scheduling on the group's cores (or GPUs), wherever they lie.

#include <cstdint>
#include <vector>

namespace perfcast {

class Backlog {
 public:
  explicit Backlog(int64_t slots) : slots_(slots) {}

  // All slots are free from `now_s` on.
  void reset(double now_s);
  // `slots` of them are taken until `until_s`. Only between reset() and the first add().
  void occupy(int64_t slots, double until_s);
  // Earliest start of a job of so many slots behind all that was added; infinite where it has more than the group.
  double start_s(int64_t slots, double now_s) const;
  // Queues a job; returns its start.
  double add(int64_t slots, double duration_s, double now_s);

 private:
  int64_t slots_;
  // Each entry: so many slots come free at that time. A heap, the earliest in front.
  struct Release {
    double at_s;
    int64_t slots;
  };
  static bool later(const Release& a, const Release& b) { return a.at_s > b.at_s; }
  void push(double at_s, int64_t slots);
  mutable std::vector<Release> heap_;
};

}  // namespace perfcast
