#pragma once
// How predictable a conditional branch is, from the last 16 outcomes at each of its executions, over all work items in
// the order in which they ran.

#include <array>
#include <bit>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <memory>

namespace perfcast::kernels {

class BranchHistory {
 public:
  static constexpr unsigned kLength = 16;

  void add(bool taken) {
    history_ = static_cast<uint16_t>(history_ << 1 | (taken ? 0 : 1));
    if (++count_ < kLength) return;
    if (!seen_) seen_ = std::make_unique<std::bitset<size_t{1} << kLength>>();
    ++windows_;
    const auto fallen = static_cast<unsigned>(std::popcount(history_));
    linear_sum_ += fallen < kLength / 2 ? fallen : kLength - fallen;
    if (!seen_->test(history_)) {
      seen_->set(history_);
      ++patterns_[fallen];
    }
  }

  uint64_t count() const { return count_; }
  uint64_t windows() const { return windows_; }
  // -sum p log2 p over the different histories that occurred, p the share of outcomes that did not take the branch
  // (Yokota and others, as AIWC uses it).
  double yokota_bits() const {
    double sum = 0;
    for (unsigned fallen = 1; fallen < kLength; ++fallen) {
      const double share = static_cast<double>(fallen) / kLength;
      sum -= static_cast<double>(patterns_[fallen]) * share * std::log2(share);
    }
    return sum;
  }
  // Sum over the executions of the linear entropy 2 min(p, 1 - p) (De Pestel, Eyerman, Eeckhout 2017).
  double linear_sum() const { return 2.0 * static_cast<double>(linear_sum_) / kLength; }

 private:
  uint16_t history_ = 0;
  uint64_t count_ = 0, windows_ = 0, linear_sum_ = 0;
  std::unique_ptr<std::bitset<size_t{1} << kLength>> seen_;
  std::array<uint64_t, kLength + 1> patterns_{};  // different histories, by outcomes that did not take it
};

}  // namespace perfcast::kernels
