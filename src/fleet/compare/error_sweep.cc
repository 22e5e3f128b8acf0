#include "fleet/compare/error_sweep.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/statistics.h"
#include "fleet/policy/policy.h"

namespace perfcast::fleet {
namespace {

// The best that knows nothing; null: there is none.
const SweepLine* best_without_forecast(const std::vector<SweepLine>& lines, SweepMetric metric) {
  const SweepLine* best = nullptr;
  double least = kUnknown;
  for (const SweepLine& line : lines) {
    if (line.kind != SweepLine::Kind::kForecastFree) continue;
    const double value = median_of_known(values_of(line, metric));
    if (std::isnan(value) || value >= least) continue;
    least = value;
    best = &line;
  }
  return best;
}

// At an error that the baseline was not run with, its median stands: no forecast enters it.
double value_at(const SweepLine& line, SweepMetric metric, double error_ratio) {
  const auto found = std::ranges::find(line.error_ratio, error_ratio);
  if (found == line.error_ratio.end()) return median_of_known(values_of(line, metric));
  return values_of(line, metric)[static_cast<size_t>(found - line.error_ratio.begin())];
}

BreakEven break_even(const SweepLine& line, const SweepLine* baseline, SweepMetric metric) {
  BreakEven result;
  result.policy = line.policy;
  if (baseline == nullptr) return result;
  result.baseline = baseline->policy;
  double last_error = 0, last_gain = kUnknown;
  for (size_t i = 0; i < line.error_ratio.size(); ++i) {
    const double error = line.error_ratio[i];
    const double gain = value_at(*baseline, metric, error) - values_of(line, metric)[i];
    if (std::isnan(gain)) continue;
    if (gain <= 0) {
      result.verdict = std::isnan(last_gain) ? BreakEven::Verdict::kNeverPays : BreakEven::Verdict::kCrosses;
      if (!std::isnan(last_gain)) {
        result.error_ratio = last_error + (error - last_error) * last_gain / (last_gain - gain);
      }
      return result;
    }
    last_error = error;
    last_gain = gain;
  }
  if (!std::isnan(last_gain)) result.verdict = BreakEven::Verdict::kAlwaysPays;
  return result;
}

}  // namespace

const std::vector<double>& values_of(const SweepLine& line, SweepMetric metric) {
  return metric == SweepMetric::kMakespan ? line.makespan_s : line.mean_completion_s;
}

std::vector<SweepLine> sweep_lines(const ErrorSweep& sweep) {
  std::vector<std::string> order;
  std::map<std::string, std::map<double, std::pair<std::vector<double>, std::vector<double>>>> by_policy;
  for (const SweepPoint& point : sweep.points) {
    auto& policy = by_policy[point.policy];
    if (policy.empty()) order.push_back(point.policy);
    auto& [makespans, completions] = policy[point.error_ratio];
    makespans.push_back(point.makespan_s);
    completions.push_back(point.mean_completion_s);
  }
  std::vector<SweepLine> lines;
  for (const std::string& name : order) {
    SweepLine line;
    line.policy = name;
    const bool free = std::ranges::find(sweep.forecast_free, name) != sweep.forecast_free.end();
    line.kind = name == info(Policy::kOracle).name ? SweepLine::Kind::kOracle
                : free                             ? SweepLine::Kind::kForecastFree
                                                   : SweepLine::Kind::kForecast;
    for (auto& [error, values] : by_policy[name]) {
      line.error_ratio.push_back(error);
      line.makespan_s.push_back(median_of_known(std::move(values.first)));
      line.mean_completion_s.push_back(median_of_known(std::move(values.second)));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<BreakEven> break_evens(const ErrorSweep& sweep, SweepMetric metric) {
  const std::vector<SweepLine> lines = sweep_lines(sweep);
  const SweepLine* baseline = best_without_forecast(lines, metric);
  std::vector<BreakEven> result;
  for (const SweepLine& line : lines) {
    if (line.kind == SweepLine::Kind::kForecast) result.push_back(break_even(line, baseline, metric));
  }
  return result;
}

}  // namespace perfcast::fleet
