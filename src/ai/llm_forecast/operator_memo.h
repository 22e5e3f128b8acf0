#pragma once
// Times of operators that were asked for already, by shape: a flat hash table with open addressing. A sweep asks for
// the same products millions of times, and a learned model takes microseconds for each.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ai/latency/model/operator_time.h"

namespace perfcast::ai {

// What a latency model was asked: which question in `tag` (0 is no question), and its five numbers.
struct OperatorKey {
  uint64_t tag = 0;
  double numbers[5] = {};
  bool operator==(const OperatorKey& other) const {
    bool same = tag == other.tag;
    for (size_t i = 0; i < 5; ++i) same &= numbers[i] == other.numbers[i];
    return same;
  }
};

class OperatorMemo {
 public:
  // Allocates as it grows; at `most` operators (rounded up to a power of two, of slots) it is emptied instead, so a
  // sweep of any length stays within about 80 bytes times twice that.
  explicit OperatorMemo(size_t most = size_t{1} << 15) : most_(std::bit_ceil(most < 64 ? 64 : most)), slots_(256) {}

  // The remembered time, or that of `compute()`, which is then remembered.
  template <typename Compute>
  OperatorTime find_or(const OperatorKey& key, Compute compute) {
    size_t at = place_of(key);
    if (slots_[at].key.tag != 0) return slots_[at].time;
    const OperatorTime time = compute();
    if (2 * (size_ + 1) > slots_.size()) {
      grow();
      at = place_of(key);
    }
    slots_[at] = {key, time};
    ++size_;
    return time;
  }

  size_t size() const { return size_; }

 private:
  struct Slot {
    OperatorKey key;
    OperatorTime time;
  };

  static uint64_t hash_of(const OperatorKey& key) {
    constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
    uint64_t hash = key.tag * kOdd;
    for (const double number : key.numbers) {
      hash = (std::rotl(hash, 23) ^ std::bit_cast<uint64_t>(number)) * kOdd;
    }
    return hash ^ (hash >> 32);
  }

  // Of this key, or the free one where it belongs. At most half of the slots are taken, so the search ends.
  size_t place_of(const OperatorKey& key) const {
    const size_t mask = slots_.size() - 1;
    size_t at = hash_of(key) & mask;
    while (slots_[at].key.tag != 0 && !(slots_[at].key == key)) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    if (size_ >= most_) {
      std::fill(slots_.begin(), slots_.end(), Slot());
      size_ = 0;
      return;
    }
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key.tag != 0) slots_[place_of(slot.key)] = slot;
    }
  }

  size_t most_, size_ = 0;
  std::vector<Slot> slots_;  // a power of two
};

}  // namespace perfcast::ai
