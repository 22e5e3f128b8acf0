#include "fleet/capacity/capacity_maximal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace perfcast::fleet {
namespace {

class Enumeration {
 public:
  Enumeration(std::span<const double> weight, std::span<const int64_t> most, double limit, size_t at_most)
      : weight_(weight), most_(most), limit_(limit), slight_(std::isinf(limit) ? 0 : 1e-9 * limit), at_most_(at_most) {
    order_.resize(weight.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    // The heaviest first, and the last one fills up: fewest plans to look at.
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return weight[a] > weight[b]; });
    plan_.assign(weight.size(), 0);
  }

  MaximalPlans run() {
    go(0, limit_);
    return std::move(found_);
  }

 private:
  int64_t room(size_t group, double left) const {
    if (!(weight_[group] > 0) || std::isinf(left)) return most_[group];
    const auto count = static_cast<int64_t>(std::floor((left + slight_) / weight_[group]));
    return most_[group] == kAnyNumber ? count : std::min(count, most_[group]);
  }

  bool is_maximal(double left) const {
    for (size_t g = 0; g < plan_.size(); ++g) {
      if (plan_[g] != most_[g] && weight_[g] <= left + slight_) return false;
    }
    return true;
  }

  void go(size_t at, double left) {
    if (!found_.all) return;
    if (at == order_.size()) {
      if (!is_maximal(left)) return;
      if (found_.plans.size() == at_most_) {
        found_.all = false;
        return;
      }
      found_.plans.push_back(plan_);
      return;
    }
    const size_t group = order_[at];
    const int64_t high = room(group, left);
    const bool fills = at + 1 == order_.size() || !(weight_[group] > 0) || std::isinf(left);
    for (int64_t count = high; count >= (fills ? high : 0) && found_.all; --count) {
      plan_[group] = count;
      go(at + 1, left - static_cast<double>(count) * weight_[group]);
    }
    plan_[group] = 0;
  }

  std::span<const double> weight_;
  std::span<const int64_t> most_;
  double limit_, slight_;
  size_t at_most_;
  std::vector<size_t> order_;
  NodePlan plan_;
  MaximalPlans found_;
};

}  // namespace

MaximalPlans maximal_plans(std::span<const double> weight, std::span<const int64_t> most, double limit,
                           size_t at_most) {
  if (limit < 0) return {};
  return Enumeration(weight, most, limit, at_most).run();
}

bool contains(const NodePlan& large, const NodePlan& small) {
  for (size_t g = 0; g < large.size(); ++g) {
    if (large[g] < small[g]) return false;
  }
  return true;
}

}  // namespace perfcast::fleet
