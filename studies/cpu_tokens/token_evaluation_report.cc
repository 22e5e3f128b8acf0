// An evaluation as tables, and the bundle that it vouches for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

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

ReportTable scores_table(const TokenEvaluation& evaluation, TokenPhase phase) {
  std::vector<TokenScore> scores;
  std::copy_if(evaluation.scores.begin(), evaluation.scores.end(), std::back_inserter(scores),
               [&](const TokenScore& score) { return score.phase == phase; });
  using Row = TokenScore;
  return table_of<Row>(
      "", scores,
      {{"split", std::string(to_string(phase)), Quantity::kText, [](const Row& row) { return row.split; }},
       {"predictor", "forecast by", Quantity::kText, [](const Row& row) { return row.predictor; }},
       {"llm", "model", Quantity::kText, [](const Row& row) { return row.part.empty() ? "all" : row.part; }},
       {"n", "n", Quantity::kCount, [](const Row& row) { return row.n; }},
       {"median_error", "median error", Quantity::kShare, [](const Row& row) { return row.median_error; }, 1},
       {"cpu_median_error", "median of CPU models", Quantity::kShare,
        [](const Row& row) { return row.cpu_median_error; }, 1},
       {"p90_error", "90% below", Quantity::kShare, [](const Row& row) { return row.p90_error; }, 1},
       {"coverage_90", "in 90% interval", Quantity::kShare, [](const Row& row) { return row.coverage; }, 1}});
}

}  // namespace perfcast::ai::cpu_tokens_study
