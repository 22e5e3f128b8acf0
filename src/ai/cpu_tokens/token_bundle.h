#pragma once
// Everything that forecasts tokens/s on CPUs, in one JSON file, "perfcast.cpu-tokens/1": card, known CPU models, a
// model for each phase.

#include <string>
#include <vector>

#include "ai/cpu_tokens/cpu_catalogue.h"
#include "ai/cpu_tokens/token_model.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

struct TokenCard {
  std::string purpose, data, licence, attribution, limits;
  std::vector<std::string> scores;  // one line each: split, predictor, figure
  // Median error on CPU models left out, the figure of `scores` that a test can hold a bundle to; not a number: not
  // stated.
  double generation_error_ratio = kUnknown, prefill_error_ratio = kUnknown;
};
TokenCard sparecores_token_card();  // scores empty

struct TokenBundle {
  TokenCard card;
  CpuCatalogue cpus;
  TokenModel prefill{TokenPhase::kPrefill}, generation{TokenPhase::kGeneration};

  const TokenModel& model(TokenPhase phase) const { return phase == TokenPhase::kPrefill ? prefill : generation; }
  // Bandwidth that is not known is imputed first. Errors: those of CpuCatalogue::impute and TokenModel::forecast.
  Result<TokenForecast> forecast(const CpuFacts& cpu, const LlmWork& llm, TokenPhase phase, int64_t tokens) const;
};

// The same bundle gives the same text; parsing it and writing it again too.
std::string token_bundle_text(const TokenBundle& bundle);
// Errors: "bad-json", "bad-bundle", "future-version".
Result<TokenBundle> parse_token_bundle(std::string_view text, const std::string& source);
Result<TokenBundle> read_token_bundle(const std::string& path);

}  // namespace perfcast::ai
