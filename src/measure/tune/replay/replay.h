#pragma once
// Tuning without running: a strategy picks settings of a recorded space, their times are looked up.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/tune/replay/recorded_space.h"
#include "measure/tune/search/strategy.h"

namespace perfcast::measure {

struct ReplayRequest {
  std::vector<StrategyKind> strategies;
  size_t trials = 0;  // settings tried, failed ones among them; at most all points
  uint64_t seed = 1;  // of the first; the others follow
  size_t seeds = 1;
  int threads = 1;
  std::function<void(const std::string&)> progress;
};

struct ReplayedSearch {
  uint64_t seed = 0;
  std::vector<size_t> tried;         // points in their order
  std::vector<double> best_after_s;  // after each of them; infinite while none was valid
};

struct ReplayedStrategy {
  StrategyKind kind = StrategyKind::kRandom;
  std::vector<ReplayedSearch> searches;  // one for each seed
  double spent_s = 0;                    // computing, all seeds
};

struct Replay {
  size_t trials = 0;
  double best_s = 0, median_s = 0, worst_s = 0;  // of the space's valid points
  std::vector<ReplayedStrategy> strategies;
};

Result<Replay> replay_tuning(const RecordedSpace& space, const ReplayRequest& request);

// Of a strategy after so many trials, over its seeds: the best found over the optimum. Where a seed found nothing
// valid, the worst valid point stands for it.
struct ReplayScore {
  size_t trials = 0;
  double mean_ratio = 0, median_ratio = 0, worst_ratio = 0;
  double within_share = 0;  // of the seeds, at most kWithin above the optimum
};
inline constexpr double kWithin = 0.05;
ReplayScore score_after(const Replay& replay, const ReplayedStrategy& strategy, size_t trials);

}  // namespace perfcast::measure
