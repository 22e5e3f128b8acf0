#pragma once
// How well tokens/s are forecast on what was left out, beside the baselines and the noise floor.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ai/cpu_tokens/token_bundle.h"
#include "ai/cpu_tokens/token_model.h"
#include "ai/cpu_tokens/token_rates.h"
#include "base/report/table.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai::cpu_tokens_study {

struct TokenEvaluationOptions {
  // Depths of the trees to choose from (0: physics alone), by inner folds of the training CPU models only: for each
  // outer group of CPU models anew. One depth: no choice.
  std::vector<int64_t> depths = {0, 3, 6};
  int64_t outer_groups = 10, inner_folds = 3;
  // 0: every CPU model is left out alone. Else as many folds of CPU models, for a quick look.
  int64_t cpu_folds = 0;
  bool other_splits = true;  // language model, core design, random servers
  int64_t rounds = 120;
  uint64_t seed = 1;
  int64_t threads = 2;
  std::function<void(const std::string&)> progress;  // may be empty; called from the calling thread
};

// The split and the predictor that a bundle's card vouches for.
inline constexpr const char* kCpuModelLeftOut = "a CPU model left out";
inline constexpr const char* kOurTokenForecasts = "perfcast";

struct TokenScore {
  TokenPhase phase = TokenPhase::kGeneration;
  std::string split, predictor;
  std::string part;                    // language model; empty: all
  int64_t n = 0;                       // rates
  double median_error = kUnknown;      // |forecast / measured - 1|, over all rates
  double cpu_median_error = kUnknown;  // median over CPU models of their median errors
  double p90_error = kUnknown;
  double coverage = kUnknown;  // of 90% intervals
};

struct TokenEvaluation {
  int64_t servers = 0, cpu_models = 0, core_designs = 0;
  std::vector<TokenScore> scores;
  std::vector<std::string> notes;  // what was left out, depths chosen
  // For the bundle: chosen on inner folds of all CPU models; intervals from the CPU models left out.
  int64_t generation_depth = 0, prefill_depth = 0;
  IntervalWidths generation_measured{}, generation_imputed{}, prefill_measured{}, prefill_imputed{};
};

// Errors: "too-few-rows" below 4 CPU models, those of TokenModel::fit.
Result<TokenEvaluation> evaluate_token_rates(const TokenRates& rates, const TokenEvaluationOptions& options);

// Of one phase, a row for each score.
ReportTable scores_table(const TokenEvaluation& evaluation, TokenPhase phase);

// Models fitted on all rates at the chosen depths, catalogue and card with the scores.
Result<TokenBundle> make_token_bundle(const TokenRates& rates, const TokenEvaluation& evaluation,
                                      const TokenEvaluationOptions& options);

}  // namespace perfcast::ai::cpu_tokens_study
