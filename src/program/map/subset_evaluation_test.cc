#include "program/map/subset_evaluation.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/map/subset_forecasts.h"
#include "program/model/fit/standardised_inputs.h"

namespace perfcast::program {
namespace {

TrainingTable small_table() {
  auto table = make_training_table(synthetic_corpus({}), {});
  return std::move(*table);
}

const SubsetScore* row_of(const SubsetEvaluation& evaluation, const std::string& programs) {
  for (const SubsetScore& row : evaluation.rows) {
    if (row.programs == programs) return &row;
  }
  return nullptr;
}

TEST(SubsetEvaluation, AllProgramsKeepAllAccuracy) {
  SubsetEvaluationOptions options;
  options.keep_ratio = 0.999;  // rounded up: all
  options.draws = 2;
  const auto evaluation = evaluate_subsets(small_table(), options);
  ASSERT_TRUE(evaluation.ok());
  EXPECT_EQ(evaluation->programs, 24);
  EXPECT_EQ(evaluation->folds, 8);
  EXPECT_DOUBLE_EQ(evaluation->trained, 21);
  EXPECT_DOUBLE_EQ(evaluation->kept, 21);
  for (const char* rule : {"all", "variance", "representative", "families", "random"}) {
    const SubsetScore* row = row_of(*evaluation, rule);
    ASSERT_NE(row, nullptr) << rule;
    EXPECT_NEAR(*row->kept_accuracy, 1, 1e-9) << rule;
    EXPECT_NEAR(*row->kept_r2_log, 1, 1e-9) << rule;
  }
  EXPECT_DOUBLE_EQ(*row_of(*evaluation, "mean")->accuracy, 0);
  EXPECT_EQ(row_of(*evaluation, "random")->draws, 2);
}

TEST(SubsetEvaluation, HalfIsHalfOfEachFold) {
  SubsetEvaluationOptions options;
  options.draws = 3;
  options.threads = 2;
  const auto evaluation = evaluate_subsets(small_table(), options);
  ASSERT_TRUE(evaluation.ok());
  EXPECT_DOUBLE_EQ(evaluation->kept, 11);
  const SubsetScore* random = row_of(*evaluation, "random");
  EXPECT_LE(*random->least_kept_accuracy, *random->kept_accuracy);
  EXPECT_GE(*random->most_kept_accuracy, *random->kept_accuracy);
  // Threads don't change anything.
  options.threads = 1;
  const auto again = evaluate_subsets(small_table(), options);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(perfcast::to_text(to_json(*evaluation)), perfcast::to_text(to_json(*again)));
  EXPECT_EQ(to_json(*again)["schema"], "perfcast.subset-evaluation/1");
}

TEST(SubsetEvaluation, SaysWhatItCantDo) {
  SubsetEvaluationOptions options;
  options.model = "no-such";
  EXPECT_EQ(evaluate_subsets(small_table(), options).error().code, "unknown-model");
  options.model = "kernel";
  const TrainingTable two = small_table().with_programs({0, 1, 3, 4});
  EXPECT_EQ(evaluate_subsets(two, options).error().code, "empty-corpus");
}

TEST(SubsetEvaluation, CountsOfShares) {
  EXPECT_EQ(kept_count(0.5, 10), 5);
  EXPECT_EQ(kept_count(0.5, 11), 6);
  EXPECT_EQ(kept_count(0.1, 30), 3) << "0.1 x 30 is a little more than 3";
  EXPECT_EQ(kept_count(0.01, 5), 1);
  EXPECT_EQ(kept_count(1, 5), 5);
}

// A platform on which none of the chosen programs was timed has no forecast, and the others are as without it.
TEST(SubsetForecasts, PlatformsWithoutTimes) {
  TrainingTable table = small_table();
  for (size_t p = 0; p < 12; ++p) table.times[p * table.platforms.size() + 2].reset();
  std::vector<size_t> rows(12), others;
  for (size_t p = 0; p < 12; ++p) rows[p] = p;
  for (size_t j = 0; j < table.platforms.size(); ++j) {
    if (j != 2) others.push_back(j);
  }
  const auto forecast = forecast_from(table, rows, {}, profiles_of(table));
  const auto without = forecast_from(table.with_platforms(others), rows, {}, profiles_of(table));
  ASSERT_TRUE(forecast.ok() && without.ok());
  EXPECT_TRUE(forecast->col(2).array().isNaN().all());
  EXPECT_TRUE((*forecast)(Eigen::all, others).isApprox(*without));
  EXPECT_EQ(forecast_from(table.with_platforms({2, 3}), rows, {}, profiles_of(table)).error().code, "unmeasured");
}

}  // namespace
}  // namespace perfcast::program
