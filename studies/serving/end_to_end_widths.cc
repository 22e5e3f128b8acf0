#include "studies/serving/end_to_end_widths.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/statistics.h"
#include "studies/serving/end_to_end_fit.h"

namespace perfcast::ai::serving_study {
namespace {

constexpr double kMostRatio = 3, kOutside = 0.1, kWeightAsIs = 0.5;

}  // namespace

Result<EndToEndRange> range_of(const EngineProfile& profile, const std::vector<EndToEndService>& services,
                               int threads) {
  EndToEndRange range;
  for (const auto& [half_widths, into] : {std::pair(0.0, &range.forecast), {-1.0, &range.lower}, {1.0, &range.upper}}) {
    auto times = simulate_all(profile, services, {}, threads, half_widths);
    if (!times) return times.error();
    *into = *std::move(times);
  }
  return range;
}

double distance_ratio(double measured, double forecast, double lower, double upper) {
  const double distance = std::log(measured / forecast);
  const double end = std::log((distance < 0 ? lower : upper) / forecast);
  return distance == 0 ? 0 : std::min(kMostRatio, std::abs(distance / end));
}

double width_ratio(const std::vector<GroupedRatio>& ratios) {
  std::map<std::string, std::vector<double>> groups;
  for (const GroupedRatio& each : ratios) groups[each.group].push_back(each.ratio);
  const auto outside = [&](double ratio) {
    double sum = kWeightAsIs * std::erfc(ratio * kNormal95 / std::sqrt(2.0));
    for (const auto& [group, of] : groups) {
      const auto above = std::count_if(of.begin(), of.end(), [&](double each) { return each > ratio; });
      sum += static_cast<double>(above) / static_cast<double>(of.size());
    }
    return sum / (kWeightAsIs + static_cast<double>(groups.size()));
  };
  double low = 0, high = kMostRatio;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (outside(middle) > kOutside ? low : high) = middle;
  }
  return high;
}

}  // namespace perfcast::ai::serving_study
