#include "fleet/policy/backlog.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace perfcast::fleet {
namespace {

constexpr int64_t kMemoryUnits = int64_t{1} << 20;

}  // namespace

void SlotBacklog::push(double at_s, int64_t slots) {
  heap_.push_back({at_s, slots});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

void SlotBacklog::reset(double now_s) {
  heap_.clear();
  if (slots_ > 0) push(now_s, slots_);
}

double SlotBacklog::start_s(int64_t slots, double now_s) const {
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

void SlotBacklog::hold(int64_t slots, double until_s) {
  int64_t left = std::min(slots, slots_);
  if (left <= 0) return;
  const int64_t held = left;
  while (true) {
    Release& first = heap_.front();
    const int64_t taken = std::min(first.slots, left);
    left -= taken;
    first.slots -= taken;
    if (first.slots > 0) break;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
    if (left == 0) break;
  }
  push(until_s, held);
}

Backlog::Backlog(const NodeGroup& group, bool in_order)
    : cores_(group.cores()),
      gpus_(group.gpus()),
      memory_(std::isnan(group.memory_bytes_per_node) ? 0 : kMemoryUnits),
      unit_bytes_(group.memory_bytes_per_node * static_cast<double>(group.nodes) / static_cast<double>(kMemoryUnits)),
      in_order_(in_order) {}

void Backlog::reset(double now_s) {
  cores_.reset(now_s);
  gpus_.reset(now_s);
  memory_.reset(now_s);
  last_start_s_ = now_s;
}

int64_t Backlog::memory_units(const JobRequest& job) const {
  if (std::isnan(job.memory_bytes) || !(unit_bytes_ > 0)) return 0;
  const double units = std::round(job.memory_bytes / unit_bytes_);  // up or down: what fills a group together fits it
  return units > static_cast<double>(kMemoryUnits) ? kMemoryUnits + 1 : static_cast<int64_t>(units);
}

void Backlog::hold(const JobRequest& job, double until_s) {
  cores_.hold(job.cores, until_s);
  gpus_.hold(job.gpus, until_s);
  memory_.hold(memory_units(job), until_s);
}

void Backlog::run(const JobRequest& job, double until_s) { hold(job, until_s); }

double Backlog::start_s(const JobRequest& job, double now_s) const {
  const double free_s = std::max(
      {cores_.start_s(job.cores, now_s), gpus_.start_s(job.gpus, now_s), memory_.start_s(memory_units(job), now_s)});
  return in_order_ ? std::max(free_s, last_start_s_) : free_s;
}

void Backlog::queue(const JobRequest& job, double duration_s, double now_s) {
  const double start = start_s(job, now_s);
  if (std::isinf(start)) return;
  hold(job, start + duration_s);
  last_start_s_ = std::max(last_start_s_, start);
}

}  // namespace perfcast::fleet
