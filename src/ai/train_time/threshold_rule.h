#pragma once
// When a training has reached a quality: a metric is noisy, so that the rule decides how much of it is luck. A time is
// always that of the evaluation with which the rule is met: when whoever watches could have stopped.
//   raw        the first evaluation that is at the threshold or better
//   median:K   the first at which the median of the last K evaluations is
//   hold:M     the M-th in a row that is

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ai/train_time/train_curve.h"
#include "base/result.h"

namespace perfcast::ai {

enum class RuleKind { kRaw, kMedian, kHold };

struct ThresholdRule {
  RuleKind kind = RuleKind::kRaw;
  size_t evaluations = 1;  // K or M
  bool lower_is_better = false;

  bool meets(double value, double threshold) const {
    return lower_is_better ? value <= threshold : value >= threshold;  // not-a-number never does
  }
};

// "raw", "median:K", "hold:M" with K and M from 1 to 1000. "bad-usage".
Result<ThresholdRule> parse_threshold_rule(std::string_view text, bool lower_is_better);
std::string rule_name(const ThresholdRule& rule);  // "median:3"
std::string rule_in_words(
    const ThresholdRule& rule);  // "the median of the last 3 evaluations at the threshold or above"

// nullopt: never, within what was recorded. Values that aren't finite count as the worst there is.
std::optional<double> time_to_threshold(const std::vector<MetricReading>& readings, double threshold,
                                        const ThresholdRule& rule);

// The best threshold that the rule is met for anywhere on the curve; nullopt without enough finite readings.
std::optional<double> best_threshold(const std::vector<MetricReading>& readings, const ThresholdRule& rule);

}  // namespace perfcast::ai
