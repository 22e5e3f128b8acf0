#pragma once
// What instructions of a modelled core take turns for: ports by cycle, queues, and what is kept of code by address.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "profile/core/design.h"

namespace perfcast {

using Cycle = int64_t;

constexpr size_t kAhead = 4096;  // cycles that ports are booked ahead
constexpr size_t kWays = 8;      // of what is kept of code

enum Port : uint8_t {
  kPortAlu,
  kPortShift,
  kPortMultiply,
  kPortBranch,
  kPortVector,
  kPortFloatAdd,
  kPortFloatMultiply,
  kPortShuffle,
  kPortLoad,
  kPortStore,
  kPortMemory,
  kPortGroups,
};

// The ports that an operation takes: one of a group, and one of the group that has all of them.
struct PortUse {
  Port own, all;
};

// What must have happened `size` events ago, at the latest now.
class Ring {
 public:
  explicit Ring(int size) : cycles_(static_cast<size_t>(std::max(1, size)), 0) {}
  Cycle oldest() const { return cycles_[at_]; }
  void push(Cycle cycle) {
    cycles_[at_] = cycle;
    at_ = at_ + 1 == cycles_.size() ? 0 : at_ + 1;
  }

 private:
  std::vector<Cycle> cycles_;
  size_t at_ = 0;
};

// Bookings of ports by cycle, and of instructions that leave the scheduler.
class Calendar {
 public:
  explicit Calendar(const CorePorts& ports) : booked_(kAhead) {
    limits_ = {ports.alu,    ports.shift,     ports.multiply,       ports.branch,
               ports.vector, ports.float_add, ports.float_multiply, ports.shuffle,
               ports.load,   ports.store,     ports.memory};
    shared_ = ports.vector_shares_alu;
  }
  Cycle now() const { return now_; }
  int waiting() const { return waiting_; }

  void advance(Cycle to) {
    // Nothing is booked further ahead than the calendar reaches.
    if (to - now_ > static_cast<Cycle>(kAhead)) {
      std::fill(booked_.begin(), booked_.end(), Slot{});
      now_ = to;
      waiting_ = static_cast<int>(far_.size());
    }
    while (now_ < to) {
      Slot& slot = booked_[static_cast<size_t>(now_) % kAhead];
      waiting_ -= slot.leave;
      slot = {};
      ++now_;
    }
    while (!far_.empty() && far_.top() < now_) {
      far_.pop();
      --waiting_;
    }
  }
  // The first cycle from `ready` on with room in both groups.
  Cycle book(PortUse use, Cycle ready) {
    Cycle cycle = ready;
    while (within(cycle) && !room(slot_of(cycle), use)) ++cycle;
    if (within(cycle)) take(slot_of(cycle), use);
    return cycle;
  }
  void enter() { ++waiting_; }
  void leave_at(Cycle cycle) {
    if (within(cycle)) {
      ++slot_of(cycle).leave;
    } else {
      far_.push(cycle);
    }
  }

 private:
  struct Slot {
    std::array<uint8_t, kPortGroups> used{};
    uint16_t leave = 0;
  };
  bool within(Cycle cycle) const { return cycle - now_ < static_cast<Cycle>(kAhead); }
  Slot& slot_of(Cycle cycle) { return booked_[static_cast<size_t>(cycle) % kAhead]; }
  bool room(const Slot& slot, PortUse use) const {
    if (slot.used[use.own] >= limits_[use.own] || slot.used[use.all] >= limits_[use.all]) return false;
    return !shared_ || use.all != kPortVector || slot.used[kPortAlu] < limits_[kPortAlu];
  }
  void take(Slot& slot, PortUse use) const {
    ++slot.used[use.own];
    if (use.all != use.own) ++slot.used[use.all];
    if (shared_ && use.all == kPortVector) ++slot.used[kPortAlu];
  }

  std::vector<Slot> booked_;
  std::array<int, kPortGroups> limits_{};
  bool shared_ = false;
  Cycle now_ = 0;
  int waiting_ = 0;
  std::priority_queue<Cycle, std::vector<Cycle>, std::greater<>> far_;
};

// What is kept of code by address, least recently used goes. A first fetch of all is not its fault: a piece begins
// cold.
class CodeCache {
 public:
  explicit CodeCache(double entries) : sets_(std::max<size_t>(1, static_cast<size_t>(entries) / kWays)) {
    kept_.assign(sets_ * kWays, 0);
  }
  bool holds(uint64_t key) {
    uint64_t* set = &kept_[key % sets_ * kWays];
    uint64_t moved = set[0];
    if (moved == key + 1) return true;
    set[0] = key + 1;
    for (size_t at = 1; at < kWays; ++at) {
      std::swap(moved, set[at]);
      if (moved == key + 1) return true;
    }
    return moved == 0;  // there was room
  }

 private:
  size_t sets_;
  std::vector<uint64_t> kept_;
};

}  // namespace perfcast
