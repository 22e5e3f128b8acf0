#include "schedule/compare/error_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/json.h"
#include "base/statistics.h"
#include "base/text.h"
#include "schedule/report/schedule_report.h"

namespace perfcast {
namespace {

constexpr std::pair<SweepMetric, const char*> kMetrics[] = {{SweepMetric::kMakespan, "makespan_s"},
                                                            {SweepMetric::kMeanCompletion, "mean_completion_s"}};

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

std::string in_words(const BreakEven& item, double most_error) {
  switch (item.verdict) {
    case BreakEven::Verdict::kCrosses:
      return fmt::format("pays up to {:.0f}% error (against {})", 100 * item.error_ratio, item.baseline);
    case BreakEven::Verdict::kAlwaysPays:
      return fmt::format("pays at every error up to {:.0f}% (against {})", 100 * most_error, item.baseline);
    case BreakEven::Verdict::kNeverPays:
      return fmt::format("does not pay even at the least error (against {})", item.baseline);
    case BreakEven::Verdict::kNothingToCompare:
      return "nothing to compare with";
  }
  return "";
}

}  // namespace

const std::vector<double>& values_of(const SweepLine& line, SweepMetric metric) {
  return metric == SweepMetric::kMakespan ? line.makespan_s : line.mean_completion_s;
}

std::string to_string(BreakEven::Verdict verdict) {
  switch (verdict) {
    case BreakEven::Verdict::kCrosses:
      return "crosses";
    case BreakEven::Verdict::kAlwaysPays:
      return "always-pays";
    case BreakEven::Verdict::kNeverPays:
      return "never-pays";
    case BreakEven::Verdict::kNothingToCompare:
      return "nothing-to-compare";
  }
  return "";
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
    line.kind = name == kOraclePolicy ? SweepLine::Kind::kOracle
                : free                ? SweepLine::Kind::kForecastFree
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

Json to_json(const ErrorSweep& sweep) {
  Json json;
  Json& points = json["points"] = Json::array();
  for (const SweepLine& line : sweep_lines(sweep)) {
    for (size_t i = 0; i < line.error_ratio.size(); ++i) {
      Json point;
      point["error_ratio"] = line.error_ratio[i];
      point["policy"] = line.policy;
      if (std::isfinite(line.makespan_s[i])) point["makespan_s"] = line.makespan_s[i];
      if (std::isfinite(line.mean_completion_s[i])) point["mean_completion_s"] = line.mean_completion_s[i];
      points.push_back(std::move(point));
    }
  }
  Json& evens = json["break_even"] = Json::array();
  for (const auto& [metric, name] : kMetrics) {
    for (const BreakEven& item : break_evens(sweep, metric)) {
      Json even;
      even["metric"] = name;
      even["policy"] = item.policy;
      if (!item.baseline.empty()) even["baseline"] = item.baseline;
      even["verdict"] = to_string(item.verdict);
      if (std::isfinite(item.error_ratio)) even["error_ratio"] = item.error_ratio;
      evens.push_back(std::move(even));
    }
  }
  return json;
}

std::string to_text(const ErrorSweep& sweep) {
  const std::vector<SweepLine> lines = sweep_lines(sweep);
  std::vector<double> errors;
  for (const SweepLine& line : lines) errors.insert(errors.end(), line.error_ratio.begin(), line.error_ratio.end());
  std::ranges::sort(errors);
  errors.erase(std::unique(errors.begin(), errors.end()), errors.end());
  if (errors.empty()) return "";
  std::string text;
  for (const auto& [metric, name] : kMetrics) {
    TextTable table;
    table.add_column("policy", TextTable::Align::kLeft);
    for (const double error : errors) table.add_column(fmt::format("{:.0f}%", 100 * error), TextTable::Align::kRight);
    for (const SweepLine& line : lines) {
      std::vector<std::string> cells = {line.policy};
      for (const double error : errors) {
        const auto found = std::ranges::find(line.error_ratio, error);
        cells.push_back(
            found == line.error_ratio.end()
                ? "-"
                : duration_text(values_of(line, metric)[static_cast<size_t>(found - line.error_ratio.begin())]));
      }
      table.add_row(std::move(cells));
    }
    text += fmt::format("{} by the forecasts' error\n{}",
                        metric == SweepMetric::kMakespan ? "makespan" : "\nmean completion time", table.to_text());
    for (const BreakEven& item : break_evens(sweep, metric)) {
      text += "  " + item.policy + " " + in_words(item, errors.back()) + "\n";
    }
  }
  return text;
}

}  // namespace perfcast
