#include "ai/latency/kernels/kernel_residuals.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace perfcast::ai {
namespace {

using Point = KernelResiduals::Point;

KernelShape without_axes(const KernelShape& shape) {
  KernelShape rest = shape;
  const KernelAxes axes = interpolated_axes(shape.kind);
  for (size_t i = 0; i < axes.count; ++i) rest.size[axes.axis[i]] = 0;
  const bool attention = shape.kind == KernelKind::kPrefill || shape.kind == KernelKind::kDecode;
  if (attention && rest.size[AttentionAxis::kWindow] >= shape.size[AttentionAxis::kLength]) {
    rest.size[AttentionAxis::kWindow] = 0;
  }
  return rest;
}

std::array<float, 4> place_of(const KernelShape& shape) {
  std::array<float, 4> at{};
  const KernelAxes axes = interpolated_axes(shape.kind);
  for (size_t i = 0; i < axes.count; ++i) at[i] = static_cast<float>(std::log(shape.size[axes.axis[i]]));
  return at;
}

// Points from `first` on whose `axis` has the value of `first`.
const Point* end_of_value(const Point* first, const Point* last, size_t axis) {
  return std::upper_bound(first, last, first->at[axis],
                          [axis](float value, const Point& point) { return value < point.at[axis]; });
}

// Between the two nearest values of this axis, each of which is interpolated in the axes within.
KernelResiduals::Found between(const Point* first, const Point* last, const std::array<float, 4>& at, size_t axis,
                               size_t axes) {
  if (axis == axes) return {first->log_ratio, 0};
  const float wanted = at[axis];
  const Point* above =
      std::lower_bound(first, last, wanted, [axis](const Point& point, float value) { return point.at[axis] < value; });
  if (above != last && above->at[axis] == wanted) {
    return between(above, end_of_value(above, last, axis), at, axis + 1, axes);
  }
  if (above == first) {
    auto found = between(first, end_of_value(first, last, axis), at, axis + 1, axes);
    found.outside = std::max(found.outside, static_cast<double>(first->at[axis] - wanted));
    return found;
  }
  const float low_value = (above - 1)->at[axis];
  const Point* below = std::lower_bound(first, above, low_value,
                                        [axis](const Point& point, float value) { return point.at[axis] < value; });
  auto low = between(below, above, at, axis + 1, axes);
  if (above == last) {
    low.outside = std::max(low.outside, static_cast<double>(wanted - low_value));
    return low;
  }
  const auto high = between(above, end_of_value(above, last, axis), at, axis + 1, axes);
  const double share = static_cast<double>(wanted - low_value) / static_cast<double>(above->at[axis] - low_value);
  return {low.log_ratio + share * (high.log_ratio - low.log_ratio), std::max(low.outside, high.outside)};
}

}  // namespace

KernelAxes interpolated_axes(KernelKind kind) {
  switch (kind) {
    case KernelKind::kProduct:
      return {{ProductAxis::kN, ProductAxis::kK, ProductAxis::kM}, 3};
    case KernelKind::kPrefill:
    case KernelKind::kDecode:
      return {{AttentionAxis::kKvHeads, AttentionAxis::kHeads, AttentionAxis::kBatch, AttentionAxis::kLength}, 4};
    case KernelKind::kExperts:
      break;
  }
  return {{ExpertsAxis::kHidden, ExpertsAxis::kInner, ExpertsAxis::kTensorParallel, ExpertsAxis::kTokens}, 4};
}

void KernelResiduals::add(const KernelShape& shape, double log_ratio) {
  const KernelShape rest = without_axes(shape);
  auto group = std::find_if(groups_.rbegin(), groups_.rend(), [&](const Group& each) { return each.rest == rest; });
  if (group == groups_.rend()) {
    groups_.push_back({rest, {}});
    group = groups_.rbegin();
  }
  group->points.push_back({place_of(shape), log_ratio});
}

void KernelResiduals::finish() {
  for (Group& group : groups_) {
    std::stable_sort(group.points.begin(), group.points.end(),
                     [](const Point& a, const Point& b) { return a.at < b.at; });
    std::vector<Point> once;
    once.reserve(group.points.size());
    for (const Point& point : group.points) {
      if (!once.empty() && once.back().at == point.at) once.pop_back();
      once.push_back(point);
    }
    group.points = std::move(once);
  }
}

std::optional<KernelResiduals::Found> KernelResiduals::find(const KernelShape& shape) const {
  const KernelShape rest = without_axes(shape);
  for (const Group& group : groups_) {
    if (group.rest != rest) continue;
    const Point* first = group.points.data();
    return between(first, first + group.points.size(), place_of(shape), 0, interpolated_axes(shape.kind).count);
  }
  return std::nullopt;
}

std::optional<KernelResiduals::Found> KernelResiduals::find_alike(const KernelShape& shape) const {
  if (const auto exact = find(shape)) return exact;
  const auto place = place_of(shape);
  const size_t axes = interpolated_axes(shape.kind).count;
  Found sum;
  double groups = 0;
  for (const Group& group : groups_) {
    if (group.rest.kind != shape.kind || group.rest.format != shape.format) continue;
    const Point* first = group.points.data();
    const Found found = between(first, first + group.points.size(), place, 0, axes);
    sum.log_ratio += found.log_ratio;
    sum.outside += found.outside;
    groups += 1;
  }
  if (groups == 0) return std::nullopt;
  return Found{sum.log_ratio / groups, 1 + sum.outside / groups};
}

size_t KernelResiduals::size() const {
  return std::accumulate(groups_.begin(), groups_.end(), size_t{0},
                         [](size_t sum, const Group& group) { return sum + group.points.size(); });
}

bool KernelResiduals::covers(KernelKind kind, KernelFormat format) const {
  return std::any_of(groups_.begin(), groups_.end(),
                     [&](const Group& group) { return group.rest.kind == kind && group.rest.format == format; });
}

}  // namespace perfcast::ai
