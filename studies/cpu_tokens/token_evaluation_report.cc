// An evaluation as tables, and the bundle that it vouches for.
#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "studies/cpu_tokens/token_evaluation.h"

namespace perfcast::ai::cpu_tokens_study {

Result<TokenBundle> make_token_bundle(const TokenRates& rates, const TokenEvaluation& evaluation,
                                      const TokenEvaluationOptions& options) {
  TokenBundle bundle;
  bundle.card = sparecores_token_card();
  bundle.cpus = CpuCatalogue::from_servers(rates.servers);
  for (const TokenScore& score : evaluation.scores) {
    if (!score.part.empty()) continue;
    std::string line = fmt::format("{}, {}, {}: median error {:.1f}%, n {}", to_string(score.phase), score.split,
                                   score.predictor, 100 * score.median_error, score.n);
    if (!std::isnan(score.coverage)) line += fmt::format(", 90% intervals cover {:.0f}%", 100 * score.coverage);
    bundle.card.scores.push_back(std::move(line));
    if (score.split != kCpuModelLeftOut || score.predictor != kOurTokenForecasts) continue;
    (score.phase == TokenPhase::kPrefill ? bundle.card.prefill_error_ratio : bundle.card.generation_error_ratio) =
        score.median_error;
  }
  TokenFitOptions fit;
  fit.rounds = options.rounds;
  fit.seed = options.seed;
  fit.depth = evaluation.generation_depth;
  auto generation =
      TokenModel::fit(TokenPhase::kGeneration, token_cells(rates, TokenPhase::kGeneration), rates.llms, fit);
  if (!generation) return generation.error();
  fit.depth = evaluation.prefill_depth;
  auto prefill = TokenModel::fit(TokenPhase::kPrefill, token_cells(rates, TokenPhase::kPrefill), rates.llms, fit);
  if (!prefill) return prefill.error();
  bundle.generation = std::move(*generation);
  bundle.prefill = std::move(*prefill);
  bundle.generation.measured_widths = evaluation.generation_measured;
  bundle.generation.imputed_widths = evaluation.generation_imputed;
  bundle.prefill.measured_widths = evaluation.prefill_measured;
  bundle.prefill.imputed_widths = evaluation.prefill_imputed;
  // As a reader finds it: what is written is rounded.
  return parse_token_bundle(token_bundle_text(bundle), "the bundle");
}

std::string to_text(const TokenEvaluation& evaluation) {
  std::string text = fmt::format("{} servers without GPUs, {} CPU models, {} core designs\n", evaluation.servers,
                                 evaluation.cpu_models, evaluation.core_designs);
  for (const std::string& note : evaluation.notes) text += note + "\n";
  const auto percent = [](double share) {
    return std::isnan(share) ? std::string("-") : fmt::format("{:.1f}%", 100 * share);
  };
  for (const TokenPhase phase : {TokenPhase::kGeneration, TokenPhase::kPrefill}) {
    TextTable table;
    table.add_column(to_string(phase), TextTable::Align::kLeft);
    table.add_column("forecast by", TextTable::Align::kLeft);
    table.add_column("model", TextTable::Align::kLeft);
    for (const char* title : {"n", "median error", "median of CPU models", "90% below", "in 90% interval"}) {
      table.add_column(title, TextTable::Align::kRight);
    }
    for (const TokenScore& score : evaluation.scores) {
      if (score.phase != phase) continue;
      table.add_row({score.split, score.predictor, score.part.empty() ? "all" : score.part, std::to_string(score.n),
                     percent(score.median_error), percent(score.cpu_median_error), percent(score.p90_error),
                     percent(score.coverage)});
    }
    text += "\n" + table.to_text();
  }
  return text;
}

}  // namespace perfcast::ai::cpu_tokens_study
