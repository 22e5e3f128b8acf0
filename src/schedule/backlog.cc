#include "schedule/backlog.h"

#include <algorithm>
#include <limits>

namespace perfcast {

void Backlog::push(double at_s, int64_t slots) {
  heap_.push_back({at_s, slots});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

void Backlog::reset(double now_s) {
  heap_.clear();
  if (slots_ > 0) push(now_s, slots_);
}

void Backlog::occupy(int64_t slots, double until_s) {
  // The free entry is in front, as nothing comes free earlier than now.
  heap_.front().slots -= slots;
  if (heap_.front().slots <= 0) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
  }
  push(until_s, slots);
}

double Backlog::start_s(int64_t slots, double now_s) const {
  if (slots > slots_) return std::numeric_limits<double>::infinity();
  // Taken out until there are enough, and put back.
  auto end = heap_.end();
  double at_s = now_s;
  for (int64_t got = 0; got < slots;) {
    at_s = std::max(at_s, heap_.front().at_s);
    got += heap_.front().slots;
    std::pop_heap(heap_.begin(), end, later);
    --end;
  }
  while (end != heap_.end()) std::push_heap(heap_.begin(), ++end, later);
  return at_s;
}

double Backlog::add(int64_t slots, double duration_s, double now_s) {
  if (slots > slots_) return std::numeric_limits<double>::infinity();
  double at_s = now_s;
  for (int64_t got = 0; got < slots;) {
    Release& first = heap_.front();
    at_s = std::max(at_s, first.at_s);
    const int64_t taken = std::min(first.slots, slots - got);
    got += taken;
    first.slots -= taken;
    if (first.slots > 0) break;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
  }
  push(at_s + duration_s, slots);
  return at_s;
}

}  // namespace perfcast
