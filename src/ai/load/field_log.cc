#include "ai/load/field_log.h"

#include <fmt/format.h>

#include <array>

#include "base/json.h"

namespace perfcast::ai {
namespace {

constexpr const char* kRule = "================================================\n";

// "99.00", as the keys of percentiles have it.
std::string percent_key(double p) { return fmt::format("{:.2f}", p * 100); }

// The percentiles of the field's logs.
std::array<std::pair<double, int64_t>, 6> percentiles_of(const LatencySummary& summary) {
  return {{{0.50, summary.p50},
           {0.90, summary.p90},
           {0.95, summary.p95},
           {0.97, summary.p97},
           {0.99, summary.p99},
           {0.999, summary.p999}}};
}

const char* yes_or_no(bool met) { return met ? "Yes" : "NO"; }

std::string reasons_of(const LoadVerdict& verdict) {
  std::string reasons;
  for (const LoadViolation& violation : verdict.violations) {
    reasons += reasons.empty() ? "" : "; ";
    reasons.append(violation.rule).append(": ").append(violation.message);
  }
  return reasons;
}

}  // namespace

std::vector<std::pair<std::string, Json>> field_points(const LoadResult& result, const LoadSummary& summary,
                                                       const LoadVerdict& verdict) {
  const LoadScenario scenario = result.settings.scenario;
  const bool server = scenario == LoadScenario::kServer, multi = scenario == LoadScenario::kMultiStream;
  const bool offline = scenario == LoadScenario::kOffline, single = scenario == LoadScenario::kSingleStream;
  const bool streams = result.settings.tokens;
  std::vector<std::pair<std::string, Json>> points;
  const auto put = [&](const std::string& key, const Json& value) { points.emplace_back(key, value); };
  const auto percentiles = [&](const std::string& before, const std::string& behind, const LatencySummary& of) {
    for (const auto& [p, value] : percentiles_of(of)) {
      put(std::string(before).append(percent_key(p)).append(behind), value);
    }
  };
  put("generated_query_count", result.queries);
  put("result_validity", verdict.valid() ? "VALID" : "INVALID");
  if (server) put("result_perf_constraints_met", verdict.latency_met);
  put("result_min_duration_met", verdict.duration_met);
  put("result_min_queries_met", verdict.queries_met);
  put("early_stopping_met", verdict.early_stopping_met);
  if (!verdict.valid()) put("result_invalid_reason", reasons_of(verdict));
  if (!verdict.early_stopping.empty()) put("early_stopping_result", verdict.early_stopping);
  put("result_query_count", result.queries);
  if (server) put("result_overlatency_query_count", verdict.over_latency);
  if (single) {
    put("result_qps_with_loadgen_overhead", summary.queries_per_s);
    const double mean_s = static_cast<double>(summary.sample_latency.mean) / 1e9;
    if (mean_s > 0) put("result_qps_without_loadgen_overhead", 1 / mean_s);
  } else if (server) {
    put("result_scheduled_samples_per_sec", summary.scheduled_per_s);
    put("result_completed_samples_per_sec", summary.queries_per_s);
  } else if (offline) {
    put("result_samples_per_second", summary.samples_per_s);
  }
  if (summary.early_p90 && single) put("early_stopping_latency_ss", summary.early_p90->latency_ns);
  if (summary.early_p99) put("early_stopping_latency_ms", summary.early_p99->latency_ns);
  if (multi) {
    put("result_min_query_latency_ns", summary.latency.min);
    put("result_max_query_latency_ns", summary.latency.max);
    put("result_mean_query_latency_ns", summary.latency.mean);
    percentiles("result_", "_percentile_per_query_latency_ns", summary.latency);
  }
  put("result_min_latency_ns", summary.sample_latency.min);
  put("result_max_latency_ns", summary.sample_latency.max);
  put("result_mean_latency_ns", summary.sample_latency.mean);
  percentiles("result_", "_percentile_latency_ns", summary.sample_latency);
  if (streams && offline) put("result_tokens_per_second", summary.tokens_per_s);
  if (streams && !offline) {
    put("result_first_token_min_latency_ns", summary.ttft.min);
    put("result_first_token_max_latency_ns", summary.ttft.max);
    put("result_first_token_mean_latency_ns", summary.ttft.mean);
    percentiles("result_first_token_", "_percentile_latency_ns", summary.ttft);
    percentiles("result_time_per_output_token_", "_percentile_ns", summary.tpot);
    put("result_time_to_output_token_min", summary.tpot.min);
    put("result_time_to_output_token_max", summary.tpot.max);
    put("result_time_to_output_token_mean", summary.tpot.mean);
    put("result_completed_tokens_per_second", summary.tokens_per_s);
  }
  return points;
}

std::string field_summary(const LoadResult& result, const LoadSummary& summary, const LoadVerdict& verdict,
                          const LoadRules& rules) {
  const LoadScenario scenario = result.settings.scenario;
  const bool server = scenario == LoadScenario::kServer, multi = scenario == LoadScenario::kMultiStream;
  const bool offline = scenario == LoadScenario::kOffline, streams = result.settings.tokens;
  std::string text;
  text.append(kRule).append("perfcast results summary (MLPerf-like; no result of MLPerf)\n").append(kRule);
  text += fmt::format("SUT name : {}\nScenario : {}\nMode     : {}\n", result.system, field_name(scenario),
                      field_name(result.settings.mode));
  if (server) {
    text += fmt::format("Completed samples per second    : {:.2f}\n", summary.queries_per_s);
  } else if (offline) {
    text += fmt::format("Samples per second: {:.6g}\n", summary.samples_per_s);
  } else {
    const bool tail = rules.percentile > 0.95;
    text += fmt::format("{:.1f}th percentile latency (ns) : {}\n", rules.percentile * 100,
                        tail ? summary.latency.p99 : summary.latency.p90);
  }
  if (streams) {
    text +=
        fmt::format("{}: {:.6g}\n", server ? "Completed tokens per second" : "Tokens per second", summary.tokens_per_s);
  }
  text += fmt::format("Result is : {}\n", verdict.valid() ? "VALID" : "INVALID");
  if (server) text += fmt::format("  Performance constraints satisfied : {}\n", yes_or_no(verdict.latency_met));
  text += fmt::format("  Min duration satisfied : {}\n", yes_or_no(verdict.duration_met));
  text += fmt::format("  Min queries satisfied : {}\n", yes_or_no(verdict.queries_met));
  text += fmt::format("  Early stopping satisfied: {}\n", yes_or_no(verdict.early_stopping_met));
  if (!verdict.valid()) text += "Recommendations:\n";
  for (const LoadViolation& violation : verdict.violations) {
    text += fmt::format(" * {}: {}. Would do: {}\n", violation.rule, violation.message, violation.mend);
  }
  if (!verdict.early_stopping.empty()) text += "Early Stopping Result:\n * " + verdict.early_stopping + "\n";
  text.append("\n").append(kRule).append("Additional Stats\n").append(kRule);
  if (server) text += fmt::format("Scheduled samples per second : {:.2f}\n", summary.scheduled_per_s);
  const LatencySummary& latency = summary.latency;
  text += fmt::format("Min latency (ns)                : {}\nMax latency (ns)                : {}\n", latency.min,
                      latency.max);
  text += fmt::format("Mean latency (ns)               : {}\n", latency.mean);
  for (const auto& [p, value] : percentiles_of(latency)) {
    text += fmt::format("{} percentile latency (ns)   : {}\n", percent_key(p), value);
  }
  if (streams && !offline) {
    for (const auto& [p, value] : percentiles_of(summary.ttft)) {
      text += fmt::format("{} percentile first token latency (ns)   : {}\n", percent_key(p), value);
    }
    for (const auto& [p, value] : percentiles_of(summary.tpot)) {
      text += fmt::format("{} percentile time to output token (ns)   : {}\n", percent_key(p), value);
    }
  }
  text.append("\n").append(kRule).append("Test Parameters Used\n").append(kRule);
  text += fmt::format("samples_per_query : {}\ntarget_qps : {:.6g}\n", multi ? result.settings.samples_per_query : 1,
                      result.settings.target_qps);
  text += fmt::format("min_duration (ms): {:.0f}\nmin_query_count : {}\n", result.settings.min_duration_s * 1e3,
                      result.settings.min_queries);
  text +=
      fmt::format("qsl_rng_seed : {}\nsample_index_rng_seed : {}\nschedule_rng_seed : {}\n",
                  result.settings.seeds.data_set, result.settings.seeds.sample_order, result.settings.seeds.schedule);
  text += fmt::format("performance_sample_count : {}\n", result.settings.loaded_samples);
  return text;
}

}  // namespace perfcast::ai
