#include "program/evaluate/scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/statistics.h"
#include "base/unknown.h"
#include "program/evaluate/testing/score_inputs.h"

namespace perfcast::program {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

MATCHER_P(Near, value, "") { return std::abs(arg - value) < 1e-12; }

TEST(Scores, OfOneRowWithTwoPlatformsSwapped) {
  const Scores scores = score(input_of(logs({{1, 2, 4}}), logs({{1, 4, 2}})));
  EXPECT_EQ(scores.n, 3);
  EXPECT_EQ(scores.programs, 1);
  EXPECT_THAT(scores.r2_log, Optional(Near(0.0)));   // logs in powers of two: SSE 2, SST 2
  EXPECT_EQ(scores.r2_log_platform, std::nullopt);   // one row: no spread about a platform's mean
  EXPECT_THAT(scores.r2, Optional(Near(-5.0 / 7)));  // SSE 8, SST 14/3
  EXPECT_THAT(scores.mape, Optional(Near(0.5)));     // 0, 1, 0.5
  EXPECT_THAT(scores.median_error, Optional(Near(0.5)));
  EXPECT_THAT(scores.mse, Optional(Near(8.0 / 3)));  // errors 0, 2, -2
  EXPECT_THAT(scores.mae, Optional(Near(4.0 / 3)));
  EXPECT_THAT(scores.mse_log, Optional(Near(2.0 / 3 * std::log(2) * std::log(2))));
  EXPECT_THAT(scores.mae_log, Optional(Near(2.0 / 3 * std::log(2))));
  EXPECT_THAT(scores.pair_order, Optional(Near(2.0 / 3)));
  EXPECT_THAT(scores.kendall_tau, Optional(Near(1.0 / 3)));  // two pairs right, one wrong
  EXPECT_THAT(scores.sos, Optional(0.0));
  EXPECT_THAT(scores.best_share, Optional(1.0));
  EXPECT_THAT(scores.regret, Optional(Near(1.0)));
  EXPECT_EQ(scores.coverage_90, std::nullopt);
}

TEST(Scores, LinearErrorsAreRelativeToTheFastestPlatformOnEitherSide) {
  // Both rows say "twice as slow"; scaled as a whole they say the same.
  const Scores scores = score(input_of(logs({{3, 6}, {1, 4}}), logs({{0.5, 1}, {7, 14}})));
  EXPECT_THAT(scores.mse, Optional(Near(1.0)));  // 0, 0, 0, 2
  EXPECT_THAT(scores.mae, Optional(Near(0.5)));
}

TEST(Scores, ALonePlatformHasLogErrorsAndNoLinearOnes) {
  const Scores scores = score(input_of(logs({{2, kUnknown}}), logs({{1, 3}})));
  EXPECT_THAT(scores.mae_log, Optional(Near(std::log(2))));
  EXPECT_EQ(scores.mae, std::nullopt);
  EXPECT_EQ(scores.mse, std::nullopt);
  EXPECT_EQ(scores.kendall_tau, std::nullopt);
}

TEST(Scores, KendallTauIsTheMeanOverRows) {
  const auto tau = [](const Eigen::MatrixXd& truth, const Eigen::MatrixXd& predicted) {
    return score(input_of(truth, predicted)).kendall_tau;
  };
  EXPECT_THAT(tau(logs({{1, 2, 4}, {1, 2, 4}}), logs({{1, 2, 3}, {3, 2, 1}})), Optional(Near(0.0)));
  // One pair tied in the forecast, the other two right: 2 / sqrt(3 * 2).
  EXPECT_THAT(tau(logs({{1, 2, 4}}), logs({{1, 2, 2}})), Optional(Near(2 / std::sqrt(6))));
  EXPECT_EQ(tau(logs({{2, 2, 2}}), logs({{1, 2, 3}})), std::nullopt);
  // No order found is no order right: the mean of 1 and 0.
  EXPECT_THAT(tau(logs({{1, 2, 4}, {1, 2, 4}}), logs({{1, 2, 3}, {5, 5, 5}})), Optional(Near(0.5)));
  EXPECT_THAT(tau(logs({{1, kUnknown, 4}}), logs({{1, 9, 4}})), Optional(Near(1.0)));
}

TEST(Scores, CountRowsSeparatelyForOrderAndTogetherForValues) {
  const Scores scores = score(input_of(logs({{1, 2, 4}, {4, 2, 1}}), logs({{1, 4, 2}, {4, 2, 1}})));
  EXPECT_EQ(scores.n, 6);
  EXPECT_THAT(scores.r2_log, Optional(Near(0.5)));  // SSE 2, SST 4
  EXPECT_THAT(scores.r2_log_platform, Optional(Near(0.5)));
  EXPECT_THAT(scores.pair_order, Optional(Near(5.0 / 6)));
  EXPECT_THAT(scores.sos, Optional(0.5));
}

TEST(Scores, OfPlatformMeansExplainNothingAboutThem) {
  const Eigen::MatrixXd truth = logs({{1, 2, 4}, {4, 2, 16}});
  Eigen::MatrixXd means = truth.colwise().mean().replicate(2, 1);
  const Scores scores = score(input_of(truth, means));
  EXPECT_THAT(scores.r2_log_platform, Optional(Near(0.0)));
  EXPECT_GT(*scores.r2_log, 0);
}

TEST(Scores, TakeAMissingEntryAsNoSample) {
  const Scores scores = score(input_of(logs({{1, kUnknown, 4}, {1, 2, 4}}), logs({{1, 9, 4}, {1, 2, 2}})));
  EXPECT_EQ(scores.n, 5);
  EXPECT_THAT(scores.mape, Optional(Near(0.1)));
  // Only the second row is measured on all platforms; its tie in the prediction is not the measured order.
  EXPECT_THAT(scores.sos, Optional(0.0));
  // (1,4), (1,2), (1,4) right; the tied pair counts half.
  EXPECT_THAT(scores.pair_order, Optional(Near(3.5 / 4)));
}

TEST(Scores, TakeTheBestThatAModelSays) {
  // Of its times it would take the first platform in both rows.
  ScoreInput input = input_of(logs({{2, 1, 3}, {2, 1, kUnknown}}), logs({{1, 2, 3}, {1, 2, 3}}));
  EXPECT_THAT(score(input).best_share, Optional(0.0));
  input.best = {1, -1};
  EXPECT_THAT(score(input).best_share, Optional(0.5));
  EXPECT_THAT(score(input).regret, Optional(Near(1.5)));
  input.best = {2, 2};  // the second row was not measured there: its times decide
  EXPECT_THAT(score(input).regret, Optional(Near((3 + 2) / 2.0)));
}

TEST(Scores, IgnorePairsWithinFivePercent) {
  const Scores close = score(input_of(logs({{1, 1.04}}), logs({{2, 1}})));
  EXPECT_EQ(close.pair_order, std::nullopt);
  EXPECT_THAT(close.best_share, Optional(0.0));
  EXPECT_THAT(close.regret, Optional(Near(1.04)));
  EXPECT_THAT(score(input_of(logs({{1, 1.06}}), logs({{2, 1}}))).pair_order, Optional(0.0));
}

TEST(Scores, CoverageCountsEntriesAndItsIntervalFamilies) {
  ScoreInput input = input_of(logs({{1, 2}, {1, 2}, {1, 2}}), logs({{1, 1}, {1, 1}, {1, 1}}));
  input.families = {"gzip", "gzip", "zstd"};
  input.lower = logs({{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}});
  input.upper = logs({{1.5, 2.5}, {1.5, 1.5}, {1.5, 2.5}});
  const Scores scores = score(input);
  EXPECT_EQ(scores.families, 2);
  EXPECT_THAT(scores.coverage_90, Optional(Near(5.0 / 6)));
  const auto [low, high] = binomial_interval(2, 2, 0.95);  // 3/4 of gzip and all of zstd round to two of two
  EXPECT_THAT(scores.coverage_90_lower, Optional(Near(low)));
  EXPECT_THAT(scores.coverage_90_upper, Optional(Near(high)));
  // sqrt(upper / lower) is sqrt(3) four times and sqrt(5) twice.
  EXPECT_THAT(scores.interval_90_factor, Optional(Near(std::sqrt(3))));
}

TEST(Scores, ARowIsCompleteWithoutWhatItWasGiven) {
  ScoreInput input = input_of(logs({{1, 2, kUnknown}, {kUnknown, 2, 4}}), logs({{1, 2, 4}, {1, 4, 2}}));
  EXPECT_EQ(score(input).sos, std::nullopt);  // no row has all three
  input.complete = {2, 2};                    // each was given another platform
  EXPECT_THAT(score(input).sos, Optional(0.5));
}

TEST(Scores, OfNothingAreAbsent) {
  const Scores scores = score(input_of(logs({{kUnknown, 2}}), logs({{1, kUnknown}})));
  EXPECT_EQ(scores.n, 0);
  EXPECT_EQ(scores.mape, std::nullopt);
  EXPECT_EQ(scores.r2_log, std::nullopt);
}

TEST(Scores, AverageOverTheSeedsThatHaveAScore) {
  Scores a, b;
  a.n = b.n = 7;
  a.mape = 0.1;
  b.mape = 0.3;
  a.sos = 0.5;
  const Scores both = average({a, b});
  EXPECT_EQ(both.n, 7);
  EXPECT_THAT(both.mape, Optional(Near(0.2)));
  EXPECT_THAT(both.sos, Optional(0.5));
  EXPECT_EQ(both.regret, std::nullopt);
}

TEST(Scores, SpreadOverTheSeedsIsTheStandardDeviation) {
  Scores a, b, c;
  a.n = b.n = c.n = 7;
  a.mae_log = 0.1;
  b.mae_log = 0.3;
  c.mae_log = 0.5;
  a.sos = 0.5;
  const Scores over = spread({a, b, c});
  EXPECT_EQ(over.n, 0);
  EXPECT_THAT(over.mae_log, Optional(Near(0.2)));
  EXPECT_EQ(over.sos, std::nullopt);  // one repetition has no spread
  EXPECT_EQ(spread({a}).mae_log, std::nullopt);
  EXPECT_THAT(spread({a, a}).mae_log, Optional(0.0));
}

TEST(Scores, EveryScoreHasAName) {
  // A score that is left out of the list would be neither averaged nor written. Counts aside, Scores is nothing but
  // optional<double>.
  constexpr size_t kCounts = 3 * sizeof(int64_t);
  EXPECT_EQ(score_fields().size(), (sizeof(Scores) - kCounts) / sizeof(std::optional<double>));
  Scores all;
  for (const ScoreField& field : score_fields()) {
    EXPECT_EQ(all.*field.value, std::nullopt) << field.name << " is there twice";
    all.*field.value = 1;
  }
}

TEST(RelativeTo, TheMeanCentersBothSidesOverTheSameEntries) {
  ScoreInput input = input_of(logs({{2, 8, kUnknown}}), logs({{1, 4, 1024}}));
  input.lower = input.predicted.array() - 1;
  input.upper = input.predicted.array() + 1;
  relative_to(-1, input);
  EXPECT_NEAR(input.truth(0, 0), std::log(0.5), 1e-12);
  EXPECT_NEAR(input.truth(0, 1), std::log(2), 1e-12);
  EXPECT_NEAR(input.predicted(0, 0), std::log(0.5), 1e-12);
  EXPECT_NEAR(input.lower(0, 1), std::log(2) - 1, 1e-12);
  EXPECT_NEAR(input.upper(0, 1), std::log(2) + 1, 1e-12);
}

TEST(RelativeTo, ANamedPlatformIsNoSampleItself) {
  ScoreInput input = input_of(logs({{2, 8, 4}, {kUnknown, 1, 2}}), logs({{1, 4, 4}, {1, 1, 1}}));
  relative_to(0, input);
  const Scores scores = score(input);
  EXPECT_EQ(scores.n, 2);  // the second row was not measured on the reference
  EXPECT_NEAR(input.truth(0, 1), std::log(4), 1e-12);
  EXPECT_NEAR(input.predicted(0, 2), std::log(4), 1e-12);
  EXPECT_TRUE(std::isnan(input.truth(0, 0)));
  EXPECT_TRUE(std::isnan(input.truth(1, 1)));
}

TEST(MajorityVote, HoldsWhatTheTrainingRowsMostOftenShow) {
  const MajorityVote vote(logs({{1, 2, 3}, {1, 2, 3}, {3, 2, 1}, {kUnknown, 2, 1}}));
  EXPECT_THAT(vote.order(), ElementsAre(0, 1, 2));
  EXPECT_EQ(vote.pair(0, 1), -1);
  EXPECT_EQ(vote.pair(1, 0), 1);
  EXPECT_EQ(vote.pair(1, 2), 0);  // two rows each way
  EXPECT_EQ(vote.fastest(), 0);
}

TEST(MajorityVote, WithoutACompleteRowHasNoOrder) {
  const MajorityVote vote(logs({{1, kUnknown}, {kUnknown, 1}}));
  EXPECT_THAT(vote.order(), IsEmpty());
}

TEST(ScoreMajority, CountsVotesAgainstMeasuredRows) {
  const MajorityVote vote(logs({{1, 2, 4}, {1, 2, 4}}));
  const Scores scores = score_majority(input_of(logs({{1, 2, 4}, {2, 1, 4}}), {}), {&vote, &vote});
  EXPECT_EQ(scores.n, 6);
  EXPECT_THAT(scores.pair_order, Optional(Near(5.0 / 6)));
  EXPECT_THAT(scores.sos, Optional(0.5));
  EXPECT_THAT(scores.best_share, Optional(0.5));
  EXPECT_THAT(scores.regret, Optional(Near(1.5)));
  EXPECT_THAT(scores.kendall_tau, Optional(Near(2.0 / 3)));  // 1 and 1/3
  EXPECT_EQ(scores.mape, std::nullopt);
}

TEST(ScoreMajority, LeavesOutTheReferenceColumn) {
  const MajorityVote vote(logs({{1, 2, 4}, {1, 2, 4}}));
  const Scores scores = score_majority(input_of(logs({{kUnknown, 2, 4}}), {}), {&vote});
  EXPECT_THAT(scores.sos, Optional(1.0));
  EXPECT_EQ(scores.best_share, std::nullopt);
}

}  // namespace
}  // namespace perfcast::program
