#include "studies/cpu_tokens/token_evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "ai/cpu_tokens/token_test_world.h"
#include "studies/cpu_tokens/token_folds.h"

namespace perfcast::ai::cpu_tokens_study {
namespace {

TokenEvaluationOptions quick() {
  TokenEvaluationOptions options;
  options.cpu_folds = 3;
  options.rounds = 10;
  options.inner_folds = 2;
  return options;
}

const TokenScore* find(const TokenEvaluation& evaluation, TokenPhase phase, const std::string& predictor,
                       const std::string& split = "a CPU model left out") {
  for (const TokenScore& score : evaluation.scores) {
    if (score.phase == phase && score.predictor == predictor && score.split == split && score.part.empty()) {
      return &score;
    }
  }
  return nullptr;
}

TEST(TokenEvaluation, OfAWorldThatObeysThePhysics) {
  const TokenRates rates = token_test::world();
  const auto evaluation = evaluate_token_rates(rates, quick());
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  EXPECT_EQ(evaluation->servers, 80);
  EXPECT_EQ(evaluation->cpu_models, 10);
  EXPECT_EQ(evaluation->core_designs, 1);
  for (const TokenPhase phase : kTokenPhases) {
    const TokenScore* ours = find(*evaluation, phase, "perfcast");
    const TokenScore* roofline = find(*evaluation, phase, "bandwidth / weights");
    ASSERT_TRUE(ours != nullptr && roofline != nullptr);
    EXPECT_EQ(ours->n, 960);
    EXPECT_LT(ours->median_error, 0.03);
    EXPECT_GT(roofline->median_error, 0.2);
    EXPECT_GE(ours->coverage, 0.85);
    // The two servers of a size are equal here.
    const TokenScore* floor =
        find(*evaluation, phase, "noise floor: the other half of the servers", "same CPU model and size");
    ASSERT_NE(floor, nullptr);
    EXPECT_EQ(floor->n, 480);
    EXPECT_NEAR(floor->median_error, 0, 1e-12);
  }
  const std::string text = rows_csv(scores_table(*evaluation, TokenPhase::kGeneration));
  EXPECT_NE(text.find("a language model left out"), std::string::npos);
  EXPECT_NE(text.find("random servers, for contrast"), std::string::npos);

  const auto again = evaluate_token_rates(rates, quick());
  ASSERT_TRUE(again);
  EXPECT_EQ(rows_csv(scores_table(*again, TokenPhase::kGeneration)), text);  // whatever the threads did
  const auto bundle = make_token_bundle(rates, *evaluation, quick());
  ASSERT_TRUE(bundle);
  EXPECT_FALSE(bundle->card.scores.empty());
  const TokenScore* prefill = find(*evaluation, TokenPhase::kPrefill, "perfcast");
  EXPECT_NEAR(bundle->card.prefill_error_ratio, prefill->median_error, 1e-4);
  EXPECT_GT(bundle->card.generation_error_ratio, 0);
  EXPECT_GT(bundle->generation.measured_widths[0], 0);
}

TEST(TokenEvaluation, BaselinesAreWhatTheySay) {
  TokenRates rates = token_test::world();
  // Generation at half of what memory feeds, but for one CPU model: at a quarter.
  for (TokenRate& rate : rates.rates) {
    const TokenServer& server = rates.servers[rate.server];
    rate.tokens_per_s = memory_bandwidth(server.facts) / rates.llms[rate.llm].weight_bytes /
                        (server.cpu == rates.servers[0].cpu ? 4 : 2);
  }
  TokenEvaluationOptions options = quick();
  options.depths = {0};
  options.other_splits = false;
  const auto evaluation = evaluate_token_rates(rates, options);
  ASSERT_TRUE(evaluation);
  const TokenScore* plain = find(*evaluation, TokenPhase::kGeneration, "bandwidth / weights");
  const TokenScore* fitted = find(*evaluation, TokenPhase::kGeneration, "bandwidth / weights x one efficiency");
  ASSERT_TRUE(plain != nullptr && fitted != nullptr);
  EXPECT_NEAR(plain->median_error, 1, 1e-9);   // twice too fast
  EXPECT_NEAR(fitted->median_error, 0, 1e-9);  // nine of ten CPU models
  EXPECT_GE(fitted->p90_error, 0);
}

TEST(TokenFolds, NothingOfAFoldIsLearnt) {
  TokenRates rates = token_test::world();
  TokenFolds folds;
  for (const TokenRate& rate : rates.rates) folds.push_back(rates.servers[rate.server].cpu == rates.servers[0].cpu);
  FoldSettings settings;
  settings.rounds = 10;
  settings.impute = true;
  const auto before = forecast_left_out(rates, TokenPhase::kGeneration, folds, settings);
  ASSERT_TRUE(before);
  for (size_t i = 0; i < folds.size(); ++i) {
    if (folds[i] == 1) rates.rates[i].tokens_per_s *= 100;
  }
  const auto after = forecast_left_out(rates, TokenPhase::kGeneration, folds, settings);
  ASSERT_TRUE(after);
  for (size_t i = 0; i < folds.size(); ++i) {
    if (folds[i] != 1 || rates.rates[i].phase != TokenPhase::kGeneration) continue;
    EXPECT_EQ(before->learnt[i], after->learnt[i]);
    EXPECT_FALSE(std::isnan(before->without_bandwidth[i]));
    EXPECT_EQ(before->without_bandwidth[i], after->without_bandwidth[i]);
  }
}

TEST(TokenFolds, GroupsAreEqualAndSeeded) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g"};
  const auto groups = group_names(names, 3, 1);
  std::map<int64_t, int> sizes;
  for (const auto& [name, group] : groups) ++sizes[group];
  EXPECT_EQ(sizes, (std::map<int64_t, int>{{0, 3}, {1, 2}, {2, 2}}));
  EXPECT_EQ(groups, group_names(names, 3, 1));
  EXPECT_NE(groups, group_names(names, 3, 2));
}

TEST(TokenEvaluation, TooFewCpuModels) {
  TokenRates rates;
  EXPECT_EQ(evaluate_token_rates(rates, quick()).error().code, "too-few-rows");
}

// Few folds and physics alone, so that it takes seconds; the goals of the whole are in the reproduction's table.
TEST(TokenEvaluation, PhysicsAloneOnTheSharedTables) {
  const std::filesystem::path folder = std::filesystem::path(PERFCAST_SHARED_DATA) / "sparecores";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no folder sparecores in " << PERFCAST_SHARED_DATA;
  TokenEvaluationOptions options;
  options.cpu_folds = 3;
  options.depths = {0};
  options.other_splits = false;
  const auto rates = read_token_rates(folder.string());
  ASSERT_TRUE(rates) << to_text(rates.error());
  const auto evaluation = evaluate_token_rates(*rates, options);
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  for (const TokenPhase phase : kTokenPhases) {
    const TokenScore* ours = find(*evaluation, phase, "physics alone");
    const TokenScore* roofline = find(*evaluation, phase, "bandwidth / weights x one efficiency");
    ASSERT_TRUE(ours != nullptr && roofline != nullptr);
    EXPECT_LT(ours->median_error, 0.2);
    EXPECT_LT(2 * ours->median_error, roofline->median_error);
  }
}

}  // namespace
}  // namespace perfcast::ai::cpu_tokens_study
