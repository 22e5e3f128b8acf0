#include "ai/results/result_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ai/results/made_up_results.h"

namespace perfcast::ai {
namespace {

TEST(ResultScores, LeaveOutWhatBelongsTogether) {
  const auto devices = made_up_devices();
  auto results = made_up_results(devices, 1);
  const auto rows = result_rows(results, devices);
  const auto count = [](const std::vector<int>& groups) { return std::set<int>(groups.begin(), groups.end()).size(); };
  EXPECT_EQ(count(split_groups(rows, ResultSplit::kSystem)), 32u);  // 8 devices, 2 counts, 2 submitters
  EXPECT_EQ(count(split_groups(rows, ResultSplit::kAccelerator)), 8u);
  EXPECT_EQ(count(split_groups(rows, ResultSplit::kGeneration)), 4u);
}

TEST(ResultScores, ScaleByPeakFromOthersAlone) {
  const auto devices = made_up_devices();
  auto results = made_up_results(devices, 1);
  results = {results[0], results[1]};  // Offline, Server
  results[1] = results[0];
  results[1].accelerator = "Round 1";
  results[1].accelerators_per_node = 4;
  results[0].samples_per_s = 100;
  results[1].samples_per_s = 800;
  const auto rows = result_rows(results, devices);
  const auto scaled = scaled_by_peak(rows, std::vector<int>{0, 1});
  EXPECT_NEAR(std::exp(scaled[0]), 800 / 4.0 / 1.6, 1e-6);
  EXPECT_NEAR(std::exp(scaled[1]), 100 * 4 * 1.6, 1e-6);
  const auto nobody = scaled_by_peak(rows, std::vector<int>{0, 0});
  EXPECT_TRUE(std::isnan(nobody[0]));
}

TEST(ResultScores, BeatThePeakWhereMoreThanThePeakCounts) {
  const auto devices = made_up_devices();
  const auto rows = result_rows(made_up_results(devices, 1), devices);
  ResultFitOptions options;
  options.most_likelihood_rows = 100;
  options.iterations = 6;
  const auto scores = score_results(rows, options, nullptr);
  ASSERT_TRUE(scores) << to_text(scores.error());
  ASSERT_EQ(scores->splits.size(), 3u);
  EXPECT_EQ(scores->folds, 4u);  // generations
  for (const SplitScores& split : scores->splits) {
    const ResultScore& all = split.scores.front();
    EXPECT_EQ(all.rows, rows.size());
    EXPECT_EQ(all.baseline_rows, rows.size());
    EXPECT_LT(all.median_error, all.baseline_median_error) << name_of(split.split);
    EXPECT_GE(all.coverage_90, 0.8) << name_of(split.split);
  }
  EXPECT_LT(scores->noise_floor, 0.05);
  EXPECT_EQ(scores->noise_rows, rows.size());
}

TEST(ResultScores, NeedTwoGenerations) {
  const auto devices = made_up_devices();
  auto rows = result_rows(made_up_results(devices, 1), devices);
  rows.resize(20);
  EXPECT_EQ(score_results(rows, {}, nullptr).error().code, "too-few-results");
}

}  // namespace
}  // namespace perfcast::ai
