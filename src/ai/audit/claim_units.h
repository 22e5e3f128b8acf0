#pragma once
// What a claim's number may be of, and in which units it may be printed.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace perfcast::ai {

enum class ClaimMetric {
  kLatency,      // s, of one request or one product
  kFirstToken,   // s
  kTokenTime,    // s for each output token of one sequence
  kSamplesPerS,  // of the whole system
  kTokensPerS,   // output tokens
  kFlops,        // FLOP/s, or OP/s of integers
  kBytesPerS,    // from memory
  kUtilisation,  // ratio of what was reached to the peak
  kSpeedup,      // ratio
};
inline constexpr size_t kClaimMetrics = 9;

std::string_view name_of(ClaimMetric metric);  // "latency", "first_token", ..., as a claims file has it
std::optional<ClaimMetric> claim_metric_named(std::string_view name);
std::string claim_metric_names();

// Base units for one of `unit`; none: the metric is not given in such a unit.
std::optional<double> claim_unit_scale(ClaimMetric metric, std::string_view unit);
std::string claim_unit_names(ClaimMetric metric);
inline bool is_time(ClaimMetric metric) {
  return metric == ClaimMetric::kLatency || metric == ClaimMetric::kFirstToken || metric == ClaimMetric::kTokenTime;
}

// Half a unit of the last digit that a decimal number is printed with: 5.28 -> 0.005, 478890 -> 5 (a closing zero may
// be one that was rounded to), 7 -> 0.5.
double half_unit_of(double printed);

// "26.0 TFLOP/s", "1.56 TB/s", "5.28 ms", "60000 tokens/s".
std::string claim_text(ClaimMetric metric, double value);

}  // namespace perfcast::ai
