#include "ai/audit/claim_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/significant.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

struct ClaimUnit {
  std::string_view name;
  double scale;
};

constexpr ClaimUnit kTimes[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"min", 60}, {"h", 3600}};
constexpr ClaimUnit kSampleRates[] = {{"samples/s", 1},  {"images/s", 1},    {"queries/s", 1}, {"inferences/s", 1},
                                      {"products/s", 1}, {"sequences/s", 1}, {"1/s", 1}};
constexpr ClaimUnit kTokenRates[] = {{"tokens/s", 1}, {"ktokens/s", 1e3}, {"1/s", 1}};
constexpr ClaimUnit kOperationRates[] = {{"FLOP/s", 1},     {"GFLOP/s", 1e9},  {"TFLOP/s", 1e12},
                                         {"PFLOP/s", 1e15}, {"EFLOP/s", 1e18}, {"OP/s", 1},
                                         {"GOP/s", 1e9},    {"TOP/s", 1e12},   {"POP/s", 1e15}};
constexpr ClaimUnit kByteRates[] = {{"B/s", 1},     {"MB/s", 1e6},     {"GB/s", 1e9},
                                    {"TB/s", 1e12}, {"GiB/s", 0x1p30}, {"TiB/s", 0x1p40}};
constexpr ClaimUnit kShares[] = {{"%", 0.01}, {"ratio", 1}};
constexpr ClaimUnit kRatios[] = {{"x", 1}};

struct MetricRow {
  std::string_view name;
  std::span<const ClaimUnit> units;
};

const std::array<MetricRow, kClaimMetrics>& metric_rows() {
  static const std::array<MetricRow, kClaimMetrics> rows = {{{"latency", kTimes},
                                                             {"first_token", kTimes},
                                                             {"token_time", kTimes},
                                                             {"samples_per_s", kSampleRates},
                                                             {"tokens_per_s", kTokenRates},
                                                             {"flops", kOperationRates},
                                                             {"bytes_per_s", kByteRates},
                                                             {"utilisation", kShares},
                                                             {"speedup", kRatios}}};
  return rows;
}

std::string with_prefix(double value, std::string_view unit) {
  struct Prefix {
    double scale;
    std::string_view name;
  };
  constexpr Prefix kPrefixes[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1, ""}};
  for (const Prefix& prefix : kPrefixes) {
    if (value >= prefix.scale || prefix.scale == 1)
      return fmt::format("{} {}{}", significant(value / prefix.scale, 3), prefix.name, unit);
  }
  return "";
}

}  // namespace

std::string_view name_of(ClaimMetric metric) { return metric_rows()[static_cast<size_t>(metric)].name; }

std::optional<ClaimMetric> claim_metric_named(std::string_view name) {
  const auto& rows = metric_rows();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name == name) return static_cast<ClaimMetric>(i);
  }
  return std::nullopt;
}

std::string claim_metric_names() {
  std::vector<std::string> names;
  names.reserve(kClaimMetrics);
  for (const MetricRow& row : metric_rows()) names.emplace_back(row.name);
  return join(names, ", ");
}

std::optional<double> claim_unit_scale(ClaimMetric metric, std::string_view unit) {
  for (const ClaimUnit& known : metric_rows()[static_cast<size_t>(metric)].units) {
    if (known.name == unit) return known.scale;
  }
  return std::nullopt;
}

std::string claim_unit_names(ClaimMetric metric) {
  std::vector<std::string> names;
  const auto units = metric_rows()[static_cast<size_t>(metric)].units;
  names.reserve(units.size());
  for (const ClaimUnit& unit : units) names.emplace_back(unit.name);
  return join(names, ", ");
}

double half_unit_of(double printed) {
  if (printed == 0 || !std::isfinite(printed)) return 0;
  for (int digits = 0; digits <= 17; ++digits) {
    const std::string text = fmt::format("{:.{}e}", printed, digits);
    if (std::strtod(text.c_str(), nullptr) != printed) continue;
    const int exponent = std::atoi(text.c_str() + text.find('e') + 1);
    return 0.5 * std::pow(10.0, exponent - digits);
  }
  return 0;
}

std::string claim_text(ClaimMetric metric, double value) {
  switch (metric) {
    case ClaimMetric::kLatency:
    case ClaimMetric::kFirstToken:
    case ClaimMetric::kTokenTime:
      return human_seconds(value);
    case ClaimMetric::kSamplesPerS:
      return fmt::format("{} samples/s", significant(value, 6));
    case ClaimMetric::kTokensPerS:
      return fmt::format("{} tokens/s", significant(value, 6));
    case ClaimMetric::kFlops:
      return with_prefix(value, "FLOP/s");
    case ClaimMetric::kBytesPerS:
      return with_prefix(value, "B/s");
    case ClaimMetric::kUtilisation:
      return fmt::format("{}%", significant(100 * value, 4));
    case ClaimMetric::kSpeedup:
      return fmt::format("{}x", significant(value, 6));
  }
  return "";
}

}  // namespace perfcast::ai
