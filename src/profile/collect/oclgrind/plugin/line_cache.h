#pragma once
// A cache of 128-byte lines: 8 ways, the line that was unused longest goes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace perfcast::kernels {

class LineCache {
 public:
  static constexpr unsigned kLineBits = 7;

  explicit LineCache(uint64_t bytes) : sets_((bytes >> kLineBits) / kWays) {}

  // True: the line was there.
  bool use(uint64_t line) {
    Set& set = sets_[line % sets_.size()];
    const auto end = set.end();
    const auto found = std::find(set.begin(), end, line + 1);
    const bool hit = found != end;
    std::rotate(set.begin(), hit ? found : end - 1, hit ? found + 1 : end);
    set[0] = line + 1;
    return hit;
  }
  void clear() { std::fill(sets_.begin(), sets_.end(), Set{}); }

 private:
  static constexpr size_t kWays = 8;
  using Set = std::array<uint64_t, kWays>;  // line + 1, the latest first; 0: none
  std::vector<Set> sets_;
};

}  // namespace perfcast::kernels
