#pragma once
// Forecasts of rates by models that were fitted without them.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ai/cpu_tokens/token_model.h"
#include "base/result.h"

namespace perfcast::ai::cpu_tokens_study {

// Fold of each rate; a rate of fold k is forecast by the model of all rates of other folds. -1: used by every model,
// forecast by none. -2: used by none.
using TokenFolds = std::vector<int64_t>;
inline constexpr int64_t kAlwaysUsed = -1, kNeverUsed = -2;

struct LeftOutForecasts {  // natural log of tokens/s, one per rate; NaN where not forecast
  std::vector<double> learnt, physics;
  std::vector<double> without_bandwidth;  // learnt, with bandwidth imputed from other CPU models
};

struct FoldSettings {
  std::map<int64_t, int64_t> depth_of_fold;  // absent: `depth`
  int64_t depth = 6, rounds = 120, threads = 2;
  uint64_t seed = 1;
  bool impute = false;  // fills without_bandwidth
};

Result<LeftOutForecasts> forecast_left_out(const TokenRates& rates, TokenPhase phase, const TokenFolds& folds,
                                           const FoldSettings& settings);

// Which of `count` equal groups each of the names falls into, by seed.
std::map<std::string, int64_t> group_names(const std::vector<std::string>& names, int64_t count, uint64_t seed);

}  // namespace perfcast::ai::cpu_tokens_study
