#include "place/workload/place_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/unknown.h"
#include "program/forecast/number_text.h"

namespace perfcast::place {
namespace {

// How many times a limit the row takes; not-a-number where it lacks what the limit is about.
double worst_excess(const PlacementRow& row, const std::vector<std::pair<PlaceMeasure, double>>& limits) {
  double worst = 0;
  for (const auto& [measure, limit] : limits) {
    const auto value = row.value(measure);
    if (!value) return kUnknown;
    worst = std::max(worst, *value / limit);
  }
  return worst;
}

}  // namespace

std::string amount_in_words(double value, PlaceMeasure measure, const std::string& currency) {
  switch (measure) {
    case PlaceMeasure::kEnergy:
      return program::in_unit(value, "J");
    case PlaceMeasure::kCost:
      return cost_in_words(value, currency);
    default:
      return human_seconds(value);
  }
}

std::string nearest_miss_in_words(const PlacementWishes& wishes, const Placement& placement) {
  std::vector<std::pair<PlaceMeasure, double>> limits;
  for (const auto& [measure, limit] : {std::pair{PlaceMeasure::kTime, wishes.most_s},
                                       {PlaceMeasure::kEnergy, wishes.most_joules},
                                       {PlaceMeasure::kCost, wishes.most_cost}}) {
    if (limit) limits.emplace_back(measure, *limit);
  }
  const PlacementRow* nearest = nullptr;
  double least = kUnknown;
  for (const PlacementRow& row : placement.rows) {
    const double excess = row.fits.value_or(true) && !row.meets ? worst_excess(row, limits) : kUnknown;
    if (!(excess < least || (nearest == nullptr && excess > 0))) continue;
    nearest = &row;
    least = excess;
  }
  if (nearest == nullptr) return "";
  std::vector<std::string> broken;
  for (const auto& [measure, limit] : limits) {
    const double value = *nearest->value(measure);
    if (value > limit) {
      broken.push_back(fmt::format("{}, the limit is {}", amount_in_words(value, measure, placement.currency),
                                   amount_in_words(limit, measure, placement.currency)));
    }
  }
  return fmt::format("Nearest to the limits is {}{} ({}): {}.",
                     nearest->count > 1 ? fmt::format("{:.0f} x ", nearest->count) : "", nearest->device,
                     name_of(nearest->kind), join(broken, "; "));
}

}  // namespace perfcast::place
