#include "measure/tune/search/candidates.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace perfcast::measure {
namespace {

// How unevenly ascending values are spread: the variance of the gaps over the square of their mean.
double unevenness(const std::vector<double>& values) {
  const auto gaps = static_cast<double>(values.size() - 1);
  const double mean_gap = (values.back() - values.front()) / gaps;
  double sum = 0;
  for (size_t i = 1; i < values.size(); ++i) sum += std::pow((values[i] - values[i - 1]) / mean_gap - 1, 2);
  return sum / gaps;
}

std::string key_of(std::span<const int16_t> levels) {
  return {reinterpret_cast<const char*>(levels.data()), levels.size_bytes()};
}

}  // namespace

KnobScale KnobScale::of(const Knob& knob) {
  KnobScale scale;
  const size_t count = knob.values.size();
  scale.positions_.resize(count);
  scale.ordered_ = knob.is_numeric() && count > 1;
  if (!scale.ordered_) {
    for (size_t i = 0; i < count; ++i) scale.positions_[i] = static_cast<int16_t>(i % (kScale + 1));
    return scale;
  }
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return *knob.values[a].number < *knob.values[b].number; });
  std::vector<double> sorted;
  sorted.reserve(order.size());
  for (const size_t i : order) sorted.push_back(*knob.values[i].number);
  if (sorted.front() > 0 && sorted.back() > sorted.front()) {
    std::vector<double> logs(count);
    std::transform(sorted.begin(), sorted.end(), logs.begin(), [](double value) { return std::log(value); });
    if (unevenness(logs) < unevenness(sorted)) sorted = logs;
  }
  const double range = sorted.back() - sorted.front();
  for (size_t rank = 0; rank < count; ++rank) {
    const double by_rank = static_cast<double>(rank) / static_cast<double>(count - 1);
    const double by_value = range > 0 ? (sorted[rank] - sorted.front()) / range : by_rank;
    scale.positions_[order[rank]] = static_cast<int16_t>(std::lround(kScale * (by_rank + by_value) / 2));
  }
  return scale;
}

Candidates::Candidates(const std::vector<Knob>& knobs) {
  for (const Knob& knob : knobs) scales_.push_back(KnobScale::of(knob));
}

size_t Candidates::add(const Setting& setting) {
  const auto [place, is_new] = index_.try_emplace(key_of(setting), size_);
  if (!is_new) return place->second;
  levels_.insert(levels_.end(), setting.begin(), setting.end());
  for (size_t knob = 0; knob < knobs(); ++knob) positions_.push_back(scales_[knob].position(setting[knob]));
  return size_++;
}

std::optional<size_t> Candidates::find(const Setting& setting) const {
  const auto found = index_.find(key_of(setting));
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

Setting Candidates::setting(size_t candidate) const {
  const auto view = levels(candidate);
  return {view.begin(), view.end()};
}

double Candidates::distance(size_t a, size_t b) const {
  const auto x = positions(a), y = positions(b);
  double sum = 0;
  for (size_t knob = 0; knob < knobs(); ++knob) {
    const int apart = std::abs(x[knob] - y[knob]);
    if (apart == 0) continue;
    sum +=
        scales_[knob].is_ordered() && apart <= KnobScale::kScale ? static_cast<double>(apart) / KnobScale::kScale : 1;
  }
  return sum / static_cast<double>(std::max<size_t>(knobs(), 1));
}

size_t Candidates::differing_knobs(size_t a, size_t b) const {
  const auto x = levels(a), y = levels(b);
  size_t count = 0;
  for (size_t knob = 0; knob < knobs(); ++knob) count += x[knob] != y[knob] ? 1 : 0;
  return count;
}

}  // namespace perfcast::measure
