#include "ai/train_time/threshold_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

double worst_of(const ThresholdRule& rule) {
  const double infinity = std::numeric_limits<double>::infinity();
  return rule.lower_is_better ? infinity : -infinity;
}

// What the rule holds against a threshold at each evaluation: it is met there where this is.
std::vector<double> judged_values(const std::vector<MetricReading>& readings, const ThresholdRule& rule) {
  const double worst = worst_of(rule);
  std::vector<double> values, judged;
  values.reserve(readings.size());
  judged.reserve(readings.size());
  for (const MetricReading& reading : readings) {
    values.push_back(std::isfinite(reading.value) ? reading.value : worst);
    const size_t needed = rule.kind == RuleKind::kRaw ? 1 : rule.evaluations;
    if (values.size() < needed) {
      judged.push_back(worst);
      continue;
    }
    const auto first = values.end() - static_cast<std::ptrdiff_t>(needed);
    if (rule.kind == RuleKind::kMedian) {
      std::vector<double> last(first, values.end());
      std::sort(last.begin(), last.end());
      const double low = last[(needed - 1) / 2], high = last[needed / 2];
      judged.push_back(low == high ? low : std::isfinite(low + high) ? (low + high) / 2 : worst);
    } else {
      judged.push_back(rule.lower_is_better ? *std::max_element(first, values.end())
                                            : *std::min_element(first, values.end()));
    }
  }
  return judged;
}

}  // namespace

Result<ThresholdRule> parse_threshold_rule(std::string_view text, bool lower_is_better) {
  constexpr double kMost = 1000;
  ThresholdRule rule;
  rule.lower_is_better = lower_is_better;
  if (text == "raw") return rule;
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const auto number = colon == std::string_view::npos ? std::nullopt : parse_number(text.substr(colon + 1));
  const bool counts = number && *number >= 1 && *number <= kMost && *number == std::floor(*number);
  if (!counts || (kind != "median" && kind != "hold")) {
    return usage_error("bad-usage", "'" + printable(text.substr(0, 100)) + "' is no rule", "--rule",
                       "raw, median:K or hold:M, with K and M from 1 to 1000");
  }
  rule.kind = kind == "median" ? RuleKind::kMedian : RuleKind::kHold;
  rule.evaluations = static_cast<size_t>(*number);
  return rule;
}

std::string rule_name(const ThresholdRule& rule) {
  switch (rule.kind) {
    case RuleKind::kRaw:
      break;
    case RuleKind::kMedian:
      return fmt::format("median:{}", rule.evaluations);
    case RuleKind::kHold:
      return fmt::format("hold:{}", rule.evaluations);
  }
  return "raw";
}

std::string rule_in_words(const ThresholdRule& rule) {
  const char* side = rule.lower_is_better ? "at the threshold or below" : "at the threshold or above";
  switch (rule.kind) {
    case RuleKind::kRaw:
      break;
    case RuleKind::kMedian:
      return fmt::format("the median of the last {} evaluations {}", rule.evaluations, side);
    case RuleKind::kHold:
      return fmt::format("{} evaluations in a row {}, counted at the last of them", rule.evaluations, side);
  }
  return fmt::format("the first evaluation {}", side);
}

std::optional<double> time_to_threshold(const std::vector<MetricReading>& readings, double threshold,
                                        const ThresholdRule& rule) {
  const std::vector<double> judged = judged_values(readings, rule);
  for (size_t i = 0; i < judged.size(); ++i) {
    if (std::isfinite(judged[i]) && rule.meets(judged[i], threshold)) return readings[i].time_s;
  }
  return std::nullopt;
}

std::optional<double> best_threshold(const std::vector<MetricReading>& readings, const ThresholdRule& rule) {
  std::optional<double> best;
  for (const double value : judged_values(readings, rule)) {
    if (std::isfinite(value) && (!best || rule.meets(value, *best))) best = value;
  }
  return best;
}

}  // namespace perfcast::ai
