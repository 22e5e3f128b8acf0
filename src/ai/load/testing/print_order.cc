// print_order SCENARIO performance|accuracy LOADED TOTAL QPS DURATION_MS MIN_QUERIES EQUAL(0|1) SEED(0: published)
// LINES print_order early PERCENTILE MOST
//
// The order of samples and arrivals that a load generator makes of these settings, a query a line: when it is due in
// ns, its samples. Or how many queries within the latency early stopping asks, for 0 to MOST over it. For
// tools/compare-loadgen, which holds both against another program.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ai/load/early_stopping.h"
#include "ai/load/query_order.h"

int main(int argc, char** argv) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 3 && words[0] == "early") {
    const double percentile = std::stod(words[1]);
    for (int64_t over = 0; over <= std::stoll(words[2]); ++over) {
      std::printf("%lld\n", static_cast<long long>(least_within(over, percentile)));
    }
    return 0;
  }
  if (words.size() != 10 || !scenario_named(words[0])) return 2;
  LoadSettings settings;
  settings.scenario = *scenario_named(words[0]);
  settings.mode = words[1] == "accuracy" ? LoadMode::kAccuracy : LoadMode::kPerformance;
  settings.loaded_samples = std::stoll(words[2]);
  settings.total_samples = std::stoll(words[3]);
  settings.target_qps = std::stod(words[4]);
  settings.min_duration_s = std::stod(words[5]) / 1e3;
  settings.min_queries = std::stoll(words[6]);
  settings.equal_issue = words[7] == "1";
  const uint64_t seed = std::stoull(words[8]);
  if (seed != 0) settings.seeds = {seed, seed + 1, seed + 2};
  int64_t left = std::stoll(words[9]);
  for (auto& set : sample_sets(settings)) {
    QueryOrder order(settings, std::move(set));
    std::vector<uint32_t> samples;
    int64_t due_ns = 0;
    while (left > 0 && order.next(samples, due_ns)) {
      --left;
      std::printf("%lld", static_cast<long long>(due_ns));
      for (const uint32_t sample : samples) std::printf(" %u", sample);
      std::printf("\n");
    }
  }
  return 0;
}
