#include "ai/bench/client_overhead.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ai/load/load_generator.h"
#include "ai/system/http_system.h"
#include "ai/system/null_endpoint.h"

namespace perfcast::ai {
namespace {

// Enough requests within a second for a p99; no more than a core of this client sends.
constexpr double kLeastRate = 100, kMostRate = 5000;
constexpr int64_t kMostPieces = 64;
constexpr double kLongestAnswer_s = 0.5, kMostPiecesPerSecond = 50'000;
constexpr int64_t kPrompts = 16, kPromptWords = 128, kWarmUp = 10;

// Of the times beyond what the endpoint takes by design.
LatencySummary beyond(const std::vector<int64_t>& times_ns, double planned_s) {
  const auto planned_ns = static_cast<int64_t>(std::llround(planned_s * 1e9));
  std::vector<int64_t> added;
  added.reserve(times_ns.size());
  for (const int64_t time_ns : times_ns) {
    if (time_ns >= 0) added.push_back(std::max<int64_t>(time_ns - planned_ns, 0));
  }
  return summarise(std::move(added));
}

}  // namespace

OverheadRequest overhead_request_of(const BenchReport& report) {
  OverheadRequest request;
  const LoadResult& result = report.result;
  request.rate_per_s = std::clamp(report.summary.samples_per_s, kLeastRate, kMostRate);
  request.is_interrupted = {};
  const double tokens = result.answered > 0 ? static_cast<double>(result.tokens) / static_cast<double>(result.answered)
                                            : static_cast<double>(request.pieces);
  const double most = std::min<double>(kMostPieces, kMostPiecesPerSecond / request.rate_per_s);
  request.pieces = std::max<int64_t>(std::llround(std::min(tokens, most)), 1);
  request.is_lighter = report.summary.samples_per_s > kMostRate || tokens > most;
  if (report.summary.tpot.count > 0) request.gap_s = static_cast<double>(report.summary.tpot.p50) * 1e-9;
  if (request.pieces > 1) {
    const double longest_s = kLongestAnswer_s / static_cast<double>(request.pieces - 1);
    // Shorter answers are fewer at once.
    if (request.gap_s > longest_s) request.is_lighter = true;
    request.gap_s = std::min(request.gap_s, longest_s);
  }
  return request;
}

ClientOverhead overhead_of(const LoadResult& result, double rate_per_s, int64_t pieces, double gap_s) {
  ClientOverhead overhead;
  overhead.rate_per_s = rate_per_s;
  overhead.pieces = pieces;
  overhead.gap_s = gap_s;
  overhead.first_token = beyond(result.ttft_ns, 0);
  overhead.latency = beyond(result.latencies_ns, NullEndpointOptions{pieces, gap_s}.answer_s());
  return overhead;
}

Result<ClientOverhead> measure_overhead(const OverheadRequest& request) {
  const NullEndpointOptions endpoint{request.pieces, request.gap_s};
  HttpSystemOptions client;
  client.prompts = made_up_prompts(kPrompts, kPromptWords, false, 1);
  const auto system = make_null_endpoint_system(endpoint, std::move(client));
  if (!system) return system.error();
  LoadSettings settings;
  settings.scenario = LoadScenario::kServer;
  settings.target_qps = request.rate_per_s;
  settings.loaded_samples = settings.total_samples = kPrompts;
  settings.min_duration_s = request.seconds_s;
  settings.tokens = true;
  settings.answer_limit_s = 10;
  LoadHooks hooks;
  hooks.is_interrupted = request.is_interrupted;
  if (const auto warm = warm_up(settings, kWarmUp, **system, hooks); !warm) return warm.error();
  const auto result = run_load(settings, **system, hooks);
  if (!result) return result.error();
  if (!result->faults.empty() || result->answered == 0) {
    const std::string why = result->faults.empty() ? "no answer" : result->faults.front().message;
    return environment_error("overhead-failed", "the null endpoint was not measured: " + why, "null-endpoint",
                             "a machine with a core for the endpoint");
  }
  ClientOverhead overhead = overhead_of(*result, request.rate_per_s, request.pieces, request.gap_s);
  overhead.is_lighter = request.is_lighter;
  return overhead;
}

}  // namespace perfcast::ai
