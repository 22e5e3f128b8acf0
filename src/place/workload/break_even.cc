#include "place/workload/break_even.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"

namespace perfcast::place {
namespace {

constexpr int64_t kLeastSize = 1;

// One row's measure at any size. Remembers: measures differ by a factor, pairs share rows.
class RowAtSize {
 public:
  RowAtSize(const PlacementRow& row, const TimeAtSize& time, int64_t present) : row_(row), time_(time) {
    const auto now = at(present);
    if (now && row.time_s && row.basis == PlaceBasis::kMeasured) scale_ = *row.time_s / now->time_s;
  }

  std::optional<SizedTime> at(int64_t size) {
    const auto known = times_.find(size);
    if (known != times_.end()) return known->second;
    return times_.emplace(size, time_(row_.device, size)).first->second;
  }

  bool knows(PlaceMeasure measure) const {
    return measure == PlaceMeasure::kTime || (row_.value(measure).has_value() && row_.time_s.has_value());
  }
  // By a measure that it knows; beyond any where the device doesn't hold that size.
  double value(PlaceMeasure measure, int64_t size) {
    const auto sized = at(size);
    if (!sized) return HUGE_VAL;
    const double time_s = scale_ * sized->time_s;
    if (measure == PlaceMeasure::kTime) return time_s;
    const bool is_forecast = row_.energy_basis == EnergyBasis::kModelled || row_.energy_basis == EnergyBasis::kTdp;
    if (measure == PlaceMeasure::kEnergy && is_forecast && sized->power_w) return time_s * *sized->power_w * row_.count;
    return time_s * *row_.value(measure) / *row_.time_s;
  }

  const PlacementRow& row() const { return row_; }

 private:
  const PlacementRow& row_;
  const TimeAtSize& time_;
  double scale_ = 1;
  std::map<int64_t, std::optional<SizedTime>> times_;
};

Result<std::vector<std::pair<size_t, size_t>>> named_pair(const Placement& placement,
                                                          const std::pair<std::string, std::string>& named) {
  std::vector<size_t> found;
  for (const std::string& name : {named.first, named.second}) {
    const auto row = find_row(placement, name, "break-even");
    if (!row) return row.error();
    if (!placement.rows[*row].time_s) {
      return usage_error("bad-usage", placement.rows[*row].device + " has no forecast", "break-even",
                         "two rows with a time");
    }
    found.push_back(*row);
  }
  if (found[0] == found[1]) {
    return usage_error("bad-usage", "one row twice", "break-even", "two rows: A,B");
  }
  return std::vector<std::pair<size_t, size_t>>{{found[0], found[1]}};
}

std::vector<std::pair<size_t, size_t>> usual_pairs(const Placement& placement) {
  std::vector<std::pair<size_t, size_t>> pairs;
  if (placement.best.empty()) return pairs;
  const PlacementBest& best = placement.best.front();
  const auto add = [&](size_t other) {
    const auto same = [&](const auto& pair) { return pair.second == other; };
    if (other == best.row || std::any_of(pairs.begin(), pairs.end(), same)) return;
    pairs.emplace_back(best.row, other);
  };
  for (size_t kind = 0; kind < kPlaceKinds; ++kind) {
    std::optional<size_t> first;
    for (size_t i = 0; i < placement.rows.size(); ++i) {
      const PlacementRow& row = placement.rows[i];
      const auto value = row.value(best.measure);
      if (row.kind != static_cast<PlaceKind>(kind) || !row.is_candidate() || !value) continue;
      if (!first || *value < *placement.rows[*first].value(best.measure)) first = i;
    }
    if (first && static_cast<PlaceKind>(kind) != placement.rows[best.row].kind) add(*first);
  }
  for (const PlacementBest& other : placement.best) add(other.row);
  return pairs;
}

}  // namespace

SizeCrossing find_crossing(const std::function<double(int64_t)>& first, const std::function<double(int64_t)>& second,
                           int64_t least, int64_t most) {
  SizeCrossing crossing;
  bool ahead = false;  // the second one
  for (int64_t size = least; size < most;) {
    const int64_t before = size;
    size = size > most / 2 ? most : size * 2;
    const bool now = second(size) < first(size);
    if (now == ahead) continue;
    ahead = now;
    ++crossing.crossings_count;
    if (crossing.at) continue;
    int64_t below = before, above = size;
    while (above - below > 1) {
      const int64_t middle = below + (above - below) / 2;
      (second(middle) < first(middle) ? above : below) = middle;
    }
    crossing.at = above;
  }
  return crossing;
}

int64_t largest_size(const std::function<bool(int64_t)>& holds, int64_t least, int64_t most) {
  if (!holds(least)) return 0;
  int64_t below = least;
  while (below < most) {
    const int64_t next = below > most / 2 ? most : below * 2;
    if (holds(next)) {
      below = next;
      continue;
    }
    int64_t above = next;
    while (above - below > 1) {
      const int64_t middle = below + (above - below) / 2;
      (holds(middle) ? below : above) = middle;
    }
    break;
  }
  return below;
}

Result<std::vector<PlaceBreakEven>> find_break_even(const Placement& placement, const TimeAtSize& time,
                                                    const std::optional<std::pair<std::string, std::string>>& named,
                                                    int64_t present, int64_t most) {
  std::vector<std::pair<size_t, size_t>> pairs;
  if (named) {
    auto found = named_pair(placement, *named);
    if (!found) return found.error();
    pairs = *std::move(found);
  } else {
    pairs = usual_pairs(placement);
  }
  std::vector<PlaceBreakEven> all;
  for (const auto& [left, right] : pairs) {
    RowAtSize a(placement.rows[left], time, present), b(placement.rows[right], time, present);
    const int64_t held_by_a = largest_size([&](int64_t size) { return a.at(size).has_value(); }, kLeastSize, most);
    const int64_t held_by_b = largest_size([&](int64_t size) { return b.at(size).has_value(); }, kLeastSize, most);
    const int64_t held = std::min(held_by_a, held_by_b);
    if (held == 0 && named) {
      return infeasible_error("does-not-fit", (held_by_a == 0 ? a : b).row().device + " holds it in no size",
                              "break-even", "rows that fit");
    }
    if (held == 0) continue;
    for (const PlaceMeasure measure : kPlaceMeasures) {
      if (!a.knows(measure) || !b.knows(measure)) continue;
      const auto value_a = [&](int64_t size) { return a.value(measure, size); };
      const auto value_b = [&](int64_t size) { return b.value(measure, size); };
      const bool a_first = value_a(kLeastSize) <= value_b(kLeastSize);
      const SizeCrossing crossing = a_first ? find_crossing(value_a, value_b, kLeastSize, held)
                                            : find_crossing(value_b, value_a, kLeastSize, held);
      PlaceBreakEven one;
      one.measure = measure;
      one.first = (a_first ? a : b).row().device;
      one.second = (a_first ? b : a).row().device;
      one.least = kLeastSize;
      one.most = held;
      one.at = crossing.at;
      one.crossings_count = crossing.crossings_count;
      if (held < most) one.limited_by = (held_by_a <= held_by_b ? a : b).row().device;
      all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace perfcast::place
