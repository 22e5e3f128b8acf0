#include "ai/results/published_result.h"

namespace perfcast::ai {

double result_rate_per_s(const PublishedResult& result) {
  const auto inverse = [](double percentile_s, double mean_s, double samples) {
    const double latency_s = std::isnan(percentile_s) ? mean_s : percentile_s;
    return latency_s > 0 ? samples / latency_s : kUnknown;
  };
  if (result.scenario == "SingleStream") return inverse(result.p90_latency_s, result.mean_latency_s, 1);
  if (result.scenario == "MultiStream")
    return inverse(result.p99_latency_s, result.mean_latency_s, kMultiStreamSamples);
  if (result.scenario == kTrainingScenario) return inverse(result.training_s, kUnknown, 1);
  return result.samples_per_s;
}

bool scales_with_accelerators(const std::string& scenario) {
  return scenario != "SingleStream" && scenario != "MultiStream";
}

}  // namespace perfcast::ai
