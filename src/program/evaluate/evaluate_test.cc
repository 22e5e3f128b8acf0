#include "program/evaluate/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "program/evaluate/report/evaluation_report.h"
#include "program/evaluate/testing/synthetic_corpus.h"

namespace perfcast::program {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TrainingTable table(const SyntheticOptions& options = {}) {
  auto made = make_training_table(synthetic_corpus(options), TableOptions{});
  if (!made) throw std::runtime_error(to_text(made.error()));
  return std::move(*made);
}

const EvaluationRow& row(const Evaluation& evaluation, const std::string& model, const std::string& group = "all") {
  for (const EvaluationRow& candidate : evaluation.rows) {
    if (candidate.model == model && candidate.group == group) return candidate;
  }
  throw std::runtime_error("no row " + model + " " + group);
}

EvaluationOptions options_for(std::vector<std::string> models, Split split = Split::kProgramFamily) {
  EvaluationOptions options;
  options.models = std::move(models);
  options.split = split;
  return options;
}

TEST(Evaluate, AddsBaselinesAndGroupsToEveryModel) {
  const auto evaluation = evaluate(table(), options_for({"knn"}));
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  for (const std::string model : {"mean", "majority", "knn", "noise-floor"}) {
    for (const std::string group : {"compressor", "user", "all"}) EXPECT_GT(row(*evaluation, model, group).scores.n, 0);
  }
  EXPECT_EQ(evaluation->programs, 24);
  EXPECT_EQ(evaluation->families, 8);
  EXPECT_EQ(evaluation->folds, 8);
  EXPECT_EQ(row(*evaluation, "knn").scores.n, 24 * 6);
  EXPECT_EQ(row(*evaluation, "knn", "user").scores.n, 12 * 6);
  // The mean of the other families explains nothing about a platform's spread over programs.
  EXPECT_LT(*row(*evaluation, "mean").scores.r2_log_platform, 0.1);
  EXPECT_LT(*row(*evaluation, "noise-floor").scores.mape, 0.02);
  EXPECT_GT(*row(*evaluation, "noise-floor").scores.pair_order, 0.98);
}

TEST(Evaluate, AModelOfCostsBeatsTheMeanWhereTimesAreCosts) {
  const auto evaluation = evaluate(table(), options_for({"nncost"}));
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  EXPECT_LT(*row(*evaluation, "nncost").scores.mape, *row(*evaluation, "mean").scores.mape);
}

TEST(Evaluate, NeverLetsTheTestFamilyIn) {
  // A family whose labels are wild must not change what is forecast for it.
  TrainingTable honest = table();
  TrainingTable wild = honest;
  const std::string family = honest.programs.front().family;
  for (size_t i = 0; i < wild.programs.size(); ++i) {
    if (wild.programs[i].family != family) continue;
    for (size_t j = 0; j < wild.platforms.size(); ++j) wild.times[i * wild.platforms.size() + j]->log_time += 3.0 * j;
  }
  const auto a = evaluate(honest, options_for({"knn"})), b = evaluate(wild, options_for({"knn"}));
  ASSERT_TRUE(a && b);
  const auto predicted = [&](const Evaluation& evaluation) {
    for (const ProgramRow& program : evaluation.by_program) {
      if (program.model == "knn" && program.program == honest.programs.front().id) return program;
    }
    throw std::runtime_error("no such program");
  };
  EXPECT_LT(predicted(*a).mape, 1);
  EXPECT_GT(predicted(*b).mape, 1);
}

TEST(Evaluate, IsTheSameOnAnyNumberOfThreads) {
  EvaluationOptions options = options_for({"knn", "kernel"});
  const auto one = evaluate(table(), options);
  options.threads = 3;
  const auto three = evaluate(table(), options);
  ASSERT_TRUE(one && three);
  EXPECT_EQ(perfcast::to_text(to_json(*one, "c", true)), perfcast::to_text(to_json(*three, "c", true)));
}

TEST(Evaluate, AgainstANamedReferenceLeavesThatPlatformOut) {
  EvaluationOptions options = options_for({"knn"});
  options.reference = "Example 300";
  const auto evaluation = evaluate(table(), options);
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  EXPECT_EQ(evaluation->reference, "example-300");
  EXPECT_EQ(row(*evaluation, "knn").scores.n, 24 * 5);
  EXPECT_EQ(row(*evaluation, "noise-floor").scores.n, 24 * 5);
  options.reference = "Example 900";
  EXPECT_EQ(evaluate(table(), options).error().code, "unknown-platform");
}

TEST(Evaluate, MeasuredPlatformsHelpAndAreNotScored) {
  SyntheticOptions world;
  world.families = 16;
  world.platforms = 12;
  EvaluationOptions options = options_for({"mean"});
  const auto without = evaluate(table(world), options);
  options.measured = 3;
  const auto with = evaluate(table(world), options);
  ASSERT_TRUE(without && with);
  EXPECT_EQ(row(*with, "mean").scores.n, 48 * 9);
  EXPECT_GE(with->measured.size(), 3u);
  EXPECT_LT(*row(*with, "mean").scores.mape, *row(*without, "mean").scores.mape);
}

TEST(Evaluate, SaysThatARandomSplitFlatters) {
  const auto evaluation = evaluate(table(), options_for({"knn"}, Split::kRandom));
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  EXPECT_THAT(evaluation->notes, Contains(HasSubstr("flatters")));
  EXPECT_EQ(row(*evaluation, "knn").scores.n, 24 * 6);
  EvaluationOptions options = options_for({"knn"}, Split::kRandom);
  options.holdout = true;
  options.folds = 4;
  const auto holdout = evaluate(table(), options);
  ASSERT_TRUE(holdout) << to_text(holdout.error());
  for (const std::string model : {"knn", "mean", "majority"}) EXPECT_EQ(row(*holdout, model).scores.n, 6 * 6) << model;
}

TEST(Evaluate, ForecastsUnknownPlatformsByTheirFacts) {
  SyntheticOptions world;
  world.platforms = 12;
  const auto evaluation = evaluate(table(world), options_for({"knn"}, Split::kPlatform));
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  EXPECT_EQ(evaluation->folds, 12);
  for (const std::string model : {"mean", "nearest-platform", "knn"}) {
    EXPECT_EQ(row(*evaluation, model).scores.n, 24 * 12) << model;
    EXPECT_FALSE(row(*evaluation, model).note.empty()) << model;
  }
  EXPECT_EQ(row(*evaluation, "majority").scores.n, 0);
}

TEST(Evaluate, SeveralSeedsHaveASpread) {
  EvaluationOptions options = options_for({"knn"}, Split::kRandom);
  options.intervals = false;
  options.seeds = 3;
  const auto evaluation = evaluate(table(), options);
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  EXPECT_GT(*row(*evaluation, "knn").spread.mae_log, 0);
  EXPECT_GE(*row(*evaluation, "majority").spread.kendall_tau, 0);
  EXPECT_EQ(row(*evaluation, "noise-floor").spread.mae_log, std::nullopt);  // needs no split: measured once
  const Json json = to_json(*evaluation, "tiny.db", false);
  EXPECT_EQ(json["seeds"], 3);
  for (const Json& item : json["models"]) EXPECT_EQ(item.contains("spread"), item["model"] != "noise-floor");
  EXPECT_THAT(to_text(*evaluation, "tiny.db", false), HasSubstr("standard deviation over the 3 seeds"));
  options.seeds = 1;
  EXPECT_THAT(to_text(*evaluate(table(), options), "tiny.db", false), Not(HasSubstr("standard deviation over")));
}

TEST(Evaluate, ComparesModelsOnTheSamePrograms) {
  const auto evaluation = evaluate(table(), options_for({"knn", "kernel"}));
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  ASSERT_EQ(evaluation->comparisons.size(), 3u * 3 * 2);  // pairs, groups, scores
  for (const PairedComparison& comparison : evaluation->comparisons) {
    const Scores &a = row(*evaluation, comparison.a, comparison.group).scores,
                 &b = row(*evaluation, comparison.b, comparison.group).scores;
    const bool errors = comparison.metric == "mae_log";
    const double expected = errors ? *a.mae_log - *b.mae_log : *a.pair_order - *b.pair_order;
    EXPECT_NEAR(comparison.difference, expected, 1e-12) << comparison.a << comparison.b << comparison.group;
    EXPECT_EQ(comparison.units, comparison.group == "all" ? 8 : 4);
    if (comparison.group == "all" && errors) {
      EXPECT_LE(comparison.difference, 0);
    }
  }
}

TEST(Evaluate, WithoutIntervalsHasTheSamePointScores) {
  EvaluationOptions options = options_for({"knn"});
  const auto with = evaluate(table(), options);
  options.intervals = false;
  const auto without = evaluate(table(), options);
  ASSERT_TRUE(with && without);
  EXPECT_NEAR(*row(*with, "knn").scores.mape, *row(*without, "knn").scores.mape, 1e-9);
  EXPECT_TRUE(row(*with, "knn").scores.coverage_90);
  EXPECT_FALSE(row(*without, "knn").scores.coverage_90);
}

TEST(Evaluate, IntervalsCoverInALargerWorld) {
  SyntheticOptions world;
  world.families = 30;
  world.programs_per_family = 1;
  const auto evaluation = evaluate(table(world), options_for({"mean"}));
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  const Scores& scores = row(*evaluation, "mean").scores;
  EXPECT_LE(*scores.coverage_90_lower, 0.9);
  EXPECT_GE(*scores.coverage_90_upper, 0.9);
}

TEST(Evaluate, RefusesWhatCannotBeSplit) {
  SyntheticOptions world;
  world.families = 1;
  EXPECT_EQ(evaluate(table(world), options_for({"knn"})).error().code, "empty-corpus");
  EXPECT_EQ(evaluate(table(), options_for({"oracle"})).error().code, "unknown-model");
  const auto alone = evaluate(table().with_platforms({2}), options_for({"knn"}));
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().message, "relative times take two platforms, there is 1");
}

TEST(EvaluationReport, HasTheFixedNames) {
  const auto evaluation = evaluate(table(), options_for({"knn"}));
  ASSERT_TRUE(evaluation);
  const Json json = to_json(*evaluation, "tiny.db", false);
  EXPECT_EQ(json["schema"], "perfcast.evaluation/1");
  EXPECT_EQ(json.begin().key(), "schema");
  for (const char* name : {"corpus", "split", "platforms", "seeds", "models", "comparisons"})
    EXPECT_TRUE(json.contains(name)) << name;
  Json knn;
  for (const Json& item : json["models"]) {
    if (item["model"] == "knn" && item["group"] == "all") knn = item;
  }
  for (const char* name : {"n", "r2_log", "r2_log_platform", "r2", "mape", "median_error", "mse", "mae", "mse_log",
                           "mae_log", "pair_order", "kendall_tau", "sos", "best_share", "regret", "coverage_90"}) {
    EXPECT_TRUE(knn.contains(name)) << name;
  }
  EXPECT_FALSE(knn.contains("spread"));  // one seed
  for (const char* name : {"a", "b", "group", "metric", "difference", "lower", "upper", "significant", "units"}) {
    EXPECT_TRUE(json["comparisons"].back().contains(name)) << name;
  }
  EXPECT_FALSE(json.contains("program_errors"));
  EXPECT_TRUE(to_json(*evaluation, "tiny.db", true).contains("program_errors"));
  const std::string text = to_text(*evaluation, "tiny.db", true);
  EXPECT_THAT(text, HasSubstr("noise-floor"));
  EXPECT_THAT(text, HasSubstr("worst platform"));
}

}  // namespace
}  // namespace perfcast::program
