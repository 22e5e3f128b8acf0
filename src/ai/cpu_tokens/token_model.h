#pragma once
// Tokens per second of a language model on a CPU: TokenPhysics, times what boosted trees learnt of its residuals from
// the CPU's facts and bandwidth, with prediction intervals from CPU models that were left out.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ai/cpu_tokens/token_physics.h"
#include "ai/cpu_tokens/token_rates.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "base/unknown.h"
#include "learn/tree/boosted_trees.h"

namespace perfcast::ai {

// Servers of one CPU model, provider and size, with one language model and length: the median of their rates counts
// once.
struct TokenCell {
  std::string cpu;
  CpuFacts facts;  // medians of bandwidth and caches
  size_t llm = 0;
  int64_t tokens = 0;
  double log_rate = 0;  // natural, tokens/s
  int64_t rates = 0;
};
// Of the rates of one phase for which `use` holds (empty: all), on servers with bandwidth.
std::vector<TokenCell> token_cells(const TokenRates& rates, TokenPhase phase, const std::vector<bool>& use = {});

struct TokenFitOptions {
  int64_t depth = 6;  // of the trees; 0: physics alone
  int64_t rounds = 120;
  double learning_rate = 0.08;
  uint64_t seed = 1;
};

// Half widths of intervals in log rates, for language models of three sizes; NaN where not calibrated.
inline constexpr size_t kLlmSizes = 3;
size_t llm_size_class(const LlmWork& llm);  // weights below 200 MB, below 1 GB, larger
using IntervalWidths = std::array<double, kLlmSizes>;

struct TokenForecast {
  double tokens_per_s = 0;
  double low = kUnknown, high = kUnknown;  // tokens/s, 90%
  double bound_tokens_per_s = kUnknown;    // generation: measured bandwidth over weights
  // Of the physics' time; sum to 1. What bounds it is the largest.
  double compute_share = 0, memory_share = 0, barrier_share = 0;
  bool bandwidth_imputed = false;
  std::optional<bool> fits_memory;  // where the machine's memory is known
};

class TokenModel {
 public:
  explicit TokenModel(TokenPhase phase) : physics_(phase) {}

  // Cells of one phase, with their language models. CPU models weigh by the root of their cells. "too-few-rows" below
  // 20 cells; "xgboost-failed". The same cells and options give the same model.
  static Result<TokenModel> fit(TokenPhase phase, const std::vector<TokenCell>& cells, const std::vector<LlmWork>& llms,
                                const TokenFitOptions& options);

  // Natural logarithm of tokens/s. Generation is at most kBoundSlack times the bandwidth's bound. The question must be
  // valid, its bandwidth known.
  double log_rate(const TokenQuestion& question) const;

  // "bad-cpu-facts", "bad-llm-work", "bad-tokens", "unknown-bandwidth".
  Result<TokenForecast> forecast(const CpuFacts& cpu, const LlmWork& llm, int64_t tokens) const;

  TokenPhase phase() const { return physics_.phase(); }
  const TokenPhysics& physics() const { return physics_; }
  const std::optional<BoostedTrees>& trees() const { return trees_; }
  IntervalWidths measured_widths = unknown_widths(), imputed_widths = unknown_widths();

  Json to_json() const;
  // "bad-bundle".
  static Result<TokenModel> from_json(const Json& json, TokenPhase phase, const std::string& path);

 private:
  static IntervalWidths unknown_widths() { return {kUnknown, kUnknown, kUnknown}; }
  double log_rate(const TokenQuestion& question, TokenTimes& times) const;

  TokenPhysics physics_;
  std::optional<BoostedTrees> trees_;
};

// Measured rates were above the bound by 5% at most on 99 of 100, where a benchmark of bandwidth read too little.
inline constexpr double kBoundSlack = 1.25;

// What the trees see of a question, in this order; numbers of one core or one socket rather than of the machine.
const std::vector<std::string>& token_feature_names();

}  // namespace perfcast::ai
