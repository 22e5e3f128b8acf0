#include "fleet/report/error_sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "base/unknown.h"
#include "fleet/report/schedule_report.h"

namespace perfcast::fleet {
namespace {

constexpr std::pair<SweepMetric, const char*> kMetrics[] = {{SweepMetric::kMakespan, "makespan_s"},
                                                            {SweepMetric::kMeanCompletion, "mean_completion_s"}};

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

Json to_json(const ErrorSweep& sweep) {
  Json json;
  Json& points = json["points"] = Json::array();
  for (const SweepLine& line : sweep_lines(sweep)) {
    for (size_t i = 0; i < line.error_ratio.size(); ++i) {
      Json point;
      point["error_ratio"] = line.error_ratio[i];
      point["policy"] = line.policy;
      put_known(point, "makespan_s", line.makespan_s[i]);
      put_known(point, "mean_completion_s", line.mean_completion_s[i]);
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
      put_known(even, "error_ratio", item.error_ratio);
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
    // All cells are of one quantity: one unit for the whole table.
    std::vector<double> values;
    for (const SweepLine& line : lines) {
      for (const double error : errors) {
        const auto found = std::ranges::find(line.error_ratio, error);
        values.push_back(found == line.error_ratio.end()
                             ? kUnknown
                             : values_of(line, metric)[static_cast<size_t>(found - line.error_ratio.begin())]);
      }
    }
    const std::vector<std::string> shown = duration_column(values);
    for (size_t i = 0; i < lines.size(); ++i) {
      std::vector<std::string> cells = {lines[i].policy};
      const auto first = shown.begin() + static_cast<std::ptrdiff_t>(i * errors.size());
      cells.insert(cells.end(), first, first + static_cast<std::ptrdiff_t>(errors.size()));
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

}  // namespace perfcast::fleet
