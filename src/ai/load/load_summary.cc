#include "ai/load/load_summary.h"

#include <algorithm>
#include <vector>

namespace perfcast::ai {
namespace {

constexpr double kNs = 1e-9;

std::vector<int64_t> known_sorted(const std::vector<int64_t>& values) {
  std::vector<int64_t> known;
  known.reserve(values.size());
  std::copy_if(values.begin(), values.end(), std::back_inserter(known), [](int64_t value) { return value >= 0; });
  std::sort(known.begin(), known.end());
  return known;
}

double rate(int64_t count, int64_t over_ns) {
  return over_ns > 0 ? static_cast<double>(count) / (static_cast<double>(over_ns) * kNs) : 0;
}

int64_t pooled_tpot_ns(const LoadResult& result) {
  int64_t gaps = 0;
  double sum_ns = 0;
  for (size_t i = 0; i < result.tpot_ns.size(); ++i) {
    if (result.tpot_ns[i] < 0) continue;
    gaps += result.answer_tokens[i] - 1;
    sum_ns += static_cast<double>(result.latencies_ns[i] - result.ttft_ns[i]);
  }
  return gaps > 0 ? static_cast<int64_t>(sum_ns / static_cast<double>(gaps)) : 0;
}

}  // namespace

LoadSummary summarise(const LoadResult& result) {
  LoadSummary summary;
  const LoadScenario scenario = result.settings.scenario;
  const std::vector<int64_t> samples = known_sorted(result.latencies_ns);
  summary.sample_latency = summarise_sorted(samples);
  summary.latency = summary.sample_latency;
  summary.lateness = summarise(result.lateness_ns);
  summary.ttft = summarise_sorted(known_sorted(result.ttft_ns));
  summary.tpot = summarise_sorted(known_sorted(result.tpot_ns));
  summary.tpot_pooled_ns = pooled_tpot_ns(result);
  summary.seconds_s = static_cast<double>(result.end_ns) * kNs;
  summary.tokens_per_s = rate(result.tokens, result.end_ns);
  if (scenario == LoadScenario::kSingleStream) {
    summary.early_p90 = early_estimate(samples, 0.90);
    summary.early_p99 = early_estimate(samples, 0.99);
  } else if (scenario == LoadScenario::kMultiStream) {
    const std::vector<int64_t> queries = known_sorted(result.query_latencies_ns);
    summary.latency = summarise_sorted(queries);
    summary.early_p99 = early_estimate(queries, 0.99);
  }
  const int64_t between = result.queries - 1;
  const bool timed = is_timed(scenario);
  summary.queries_per_s = rate(result.queries, result.end_ns);
  if (between > 0 && scenario != LoadScenario::kOffline && scenario != LoadScenario::kConcurrency) {
    summary.queries_per_s = rate(between, timed ? result.last_query_answered_ns : result.last_issued_ns);
    if (timed) summary.scheduled_per_s = rate(between, result.last_due_ns);
  }
  if (result.queries > 0) {
    const double samples_a_query = static_cast<double>(result.answered) / static_cast<double>(result.queries);
    summary.samples_per_s = summary.queries_per_s * samples_a_query;
  }
  return summary;
}

}  // namespace perfcast::ai
