#pragma once
// Mean of something held over time, in equal bins: additions cost the same however long they last.

#include <algorithm>
#include <cmath>
#include <vector>

namespace perfcast::fleet {

class UsageBins {
 public:
  // [from_s, to_s] in `bins` bins; to_s > from_s, bins > 0.
  UsageBins(double from_s, double to_s, size_t bins)
      : from_s_(from_s), width_s_((to_s - from_s) / static_cast<double>(bins)), partial_(bins), whole_(bins + 1) {}

  // `amount` is held from start_s to end_s; what lies outside is left out.
  void add(double start_s, double end_s, double amount) {
    const auto bins = static_cast<double>(partial_.size());
    const double a = std::clamp((start_s - from_s_) / width_s_, 0.0, bins);
    const double b = std::clamp((end_s - from_s_) / width_s_, 0.0, bins);
    if (!(b > a)) return;
    const auto first = std::min(static_cast<size_t>(a), partial_.size() - 1);
    const auto last = std::min(static_cast<size_t>(b), partial_.size() - 1);
    if (first == last) {
      partial_[first] += amount * (b - a);
      return;
    }
    partial_[first] += amount * (static_cast<double>(first + 1) - a);
    partial_[last] += amount * (b - static_cast<double>(last));
    whole_[first + 1] += amount;  // and every bin up to `last`
    whole_[last] -= amount;
  }

  // Mean amount held in each bin.
  std::vector<double> means() const {
    std::vector<double> result(partial_.size());
    double held = 0;
    for (size_t i = 0; i < result.size(); ++i) {
      held += whole_[i];
      result[i] = std::max(0.0, partial_[i] + held);
    }
    return result;
  }
  double middle_s(size_t bin) const { return from_s_ + (static_cast<double>(bin) + 0.5) * width_s_; }
  double start_s(size_t bin) const { return from_s_ + static_cast<double>(bin) * width_s_; }
  size_t size() const { return partial_.size(); }

 private:
  double from_s_, width_s_;
  std::vector<double> partial_, whole_;
};

}  // namespace perfcast::fleet
