#pragma once
// Lanes of a trace (chrome_trace.h): spans that overlap stand in different ones.

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace perfcast {

class TraceLanes {
 public:
  // The lowest lane that is free from `start` on, from 0; starts must not decrease.
  int64_t take(int64_t start, int64_t end) {
    while (!busy_.empty() && busy_.top().first <= start) {
      free_.push(busy_.top().second);
      busy_.pop();
    }
    int64_t lane = count_;
    if (free_.empty()) {
      ++count_;
    } else {
      lane = free_.top();
      free_.pop();
    }
    busy_.emplace(end, lane);
    return lane;
  }

 private:
  template <typename T>
  using Smallest = std::priority_queue<T, std::vector<T>, std::greater<>>;
  Smallest<std::pair<int64_t, int64_t>> busy_;
  Smallest<int64_t> free_;
  int64_t count_ = 0;
};

}  // namespace perfcast
