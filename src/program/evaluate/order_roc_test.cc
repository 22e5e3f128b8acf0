#include "program/evaluate/order_roc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/unknown.h"
#include "program/evaluate/testing/score_inputs.h"

namespace perfcast::program {
namespace {

using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

MATCHER_P(NearShare, value, "") { return std::abs(arg - value) < 1e-12; }

// The same vote for every row.
MajorityVotes votes(const Eigen::MatrixXd& training, size_t rows) {
  return MajorityVotes(rows, std::make_shared<const MajorityVote>(training));
}

TEST(Roc, OfFourSamplesByHand) {
  // Positives 3, 1, -1; negatives 2, -2. Of the six pairs, (3,2) (3,-2) (1,-2) (-1,-2) are right.
  const Roc roc = roc_of({{1, true}, {2, false}, {-1, true}, {3, true}, {-2, false}});
  EXPECT_EQ(roc.positives, 3);
  EXPECT_EQ(roc.negatives, 2);
  EXPECT_THAT(roc.auc, Optional(NearShare(4.0 / 6)));
  EXPECT_THAT(roc.sensitivity, Optional(NearShare(2.0 / 3)));
  EXPECT_THAT(roc.specificity, Optional(NearShare(1.0 / 2)));
  ASSERT_THAT(roc.curve, SizeIs(6));
  const double rates[][2] = {{0, 0}, {0, 1.0 / 3}, {0.5, 1.0 / 3}, {0.5, 2.0 / 3}, {0.5, 1}, {1, 1}};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(roc.curve[i].false_positive_rate, rates[i][0], 1e-12) << i;
    EXPECT_NEAR(roc.curve[i].true_positive_rate, rates[i][1], 1e-12) << i;
  }
  EXPECT_EQ(roc.curve[1].threshold, 3);
}

TEST(Roc, ATieIsHalfAPairAndOneStep) {
  const Roc roc = roc_of({{1, true}, {1, false}, {0, true}, {0, false}});
  EXPECT_THAT(roc.auc, Optional(NearShare(0.5)));
  EXPECT_THAT(roc.curve, SizeIs(3));
  EXPECT_THAT(roc.sensitivity, Optional(0.5));  // a score of 0 is no agreement
  EXPECT_THAT(roc.specificity, Optional(0.5));
}

TEST(Roc, OfOneClassHasNoArea) {
  const Roc roc = roc_of({{1, true}, {-1, true}});
  EXPECT_EQ(roc.auc, std::nullopt);
  EXPECT_EQ(roc.specificity, std::nullopt);
  EXPECT_THAT(roc.sensitivity, Optional(0.5));
  EXPECT_THAT(roc.curve, IsEmpty());
  EXPECT_EQ(roc_of({}).sensitivity, std::nullopt);
}

TEST(Roc, OfAnyScoresRisesFromZeroToOneAndHasTheMannWhitneyArea) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    std::vector<RocSample> samples;
    samples.reserve(60);
    for (int i = 0; i < 60; ++i) samples.push_back({static_cast<double>(random() % 12) - 6, random() % 3 == 0});
    double won = 0, pairs = 0;
    for (const RocSample& p : samples) {
      for (const RocSample& n : samples) {
        if (!p.positive || n.positive) continue;
        ++pairs;
        won += p.score > n.score ? 1 : p.score == n.score ? 0.5 : 0;
      }
    }
    const Roc roc = roc_of(samples);
    ASSERT_TRUE(roc.auc) << seed;
    EXPECT_NEAR(*roc.auc, won / pairs, 1e-12) << seed;
    double trapezoids = 0;
    for (size_t i = 1; i < roc.curve.size(); ++i) {
      const RocPoint &a = roc.curve[i - 1], &b = roc.curve[i];
      EXPECT_GE(b.false_positive_rate, a.false_positive_rate);
      EXPECT_GE(b.true_positive_rate, a.true_positive_rate);
      EXPECT_LT(b.threshold, a.threshold);
      trapezoids += (b.false_positive_rate - a.false_positive_rate) * (a.true_positive_rate + b.true_positive_rate) / 2;
    }
    EXPECT_NEAR(trapezoids, *roc.auc, 1e-12) << seed;
    EXPECT_EQ(roc.curve.back().false_positive_rate, 1);
    EXPECT_EQ(roc.curve.back().true_positive_rate, 1);
    const auto few = thinned(roc.curve, 0.2);
    EXPECT_LE(few.size(), 12u);
    EXPECT_EQ(few.front().true_positive_rate, 0);
    EXPECT_EQ(few.back().true_positive_rate, 1);
    // Turned round, it is as good as it was bad.
    for (RocSample& sample : samples) sample.score = -sample.score;
    EXPECT_NEAR(*roc_of(samples).auc, 1 - *roc.auc, 1e-12) << seed;
  }
}

TEST(OrderSamples, ScoreIsTheSmallestStepAlongTheVotedOrder) {
  const auto vote = votes(logs({{4, 2, 1}, {8, 2, 1}}), 3);  // the last platform is the fastest
  const auto samples = order_samples(
      input_of(logs({{4, 2, 1}, {1, 2, 4}, {4, 2, kUnknown}}), logs({{8, 2, 1}, {4, 3, 1}, {4, 2, 1}})), vote);
  ASSERT_THAT(samples, SizeIs(2));  // the third row was not measured everywhere
  EXPECT_TRUE(samples[0].positive);
  EXPECT_NEAR(samples[0].score, std::log(2), 1e-12);
  EXPECT_FALSE(samples[1].positive);
  EXPECT_NEAR(samples[1].score, std::log(4.0 / 3), 1e-12);
}

TEST(OrderSamples, SkipTheReferenceAndRowsWithoutAVote) {
  MajorityVotes some = votes(logs({{1, 2, 4}}), 2);
  some[1] = nullptr;
  const auto samples = order_samples(
      input_of(logs({{kUnknown, 2, 4}, {kUnknown, 2, 4}}), logs({{kUnknown, 4, 2}, {kUnknown, 2, 4}})), some);
  ASSERT_THAT(samples, SizeIs(1));
  EXPECT_TRUE(samples[0].positive);
  EXPECT_NEAR(samples[0].score, std::log(0.5), 1e-12);
}

TEST(PairSamples, AreDecidedPairsOverFivePercentApart) {
  // Votes: 0 before 1; 0 and 2 undecided; 1 and 2 undecided.
  const auto vote = votes(logs({{1, 2, 0.5}, {1, 2, 4}}), 1);
  const auto samples = pair_samples(input_of(logs({{3, 2, 1}}), logs({{1, 4, 1}})), vote);
  ASSERT_THAT(samples, SizeIs(1));
  EXPECT_FALSE(samples[0].positive);
  EXPECT_NEAR(samples[0].score, std::log(4), 1e-12);
  EXPECT_THAT(pair_samples(input_of(logs({{1, 1.04, 1}}), logs({{1, 4, 1}})), vote), IsEmpty());
}

TEST(OrderScores, OfAPerfectForecastAreOne) {
  std::mt19937 random(5);
  Eigen::MatrixXd truth(40, 3);
  for (int64_t i = 0; i < truth.rows(); ++i) {
    for (int64_t j = 0; j < 3; ++j) truth(i, j) = 0.3 * j + random() * 0x1p-32;
  }
  const auto vote = votes(truth, 40);
  const OrderScores perfect = order_scores(input_of(truth, truth), vote);
  for (const auto& value : {perfect.order_auc, perfect.order_sensitivity, perfect.order_specificity, perfect.pair_auc,
                            perfect.pair_sensitivity, perfect.pair_specificity}) {
    EXPECT_THAT(value, Optional(1.0));
  }
  const OrderScores majority = majority_order_scores(input_of(truth, {}), vote);
  EXPECT_THAT(majority.order_auc, Optional(0.5));
  EXPECT_THAT(majority.order_sensitivity, Optional(1.0));
  EXPECT_THAT(majority.pair_specificity, Optional(0.0));
}

TEST(OrderScores, WithoutAWholeMajorityOrderAreOfPairsAlone) {
  // No training row is complete, so there is no order; its pairs still have a majority.
  const auto vote = votes(logs({{1, 2, kUnknown}, {kUnknown, 2, 4}, {1, kUnknown, 4}}), 2);
  const OrderScores scores = order_scores(input_of(logs({{1, 2, 4}, {4, 2, 1}}), logs({{1, 2, 4}, {4, 2, 1}})), vote);
  EXPECT_EQ(scores.order_auc, std::nullopt);
  EXPECT_EQ(scores.order_specificity, std::nullopt);
  EXPECT_THAT(scores.pair_auc, Optional(1.0));
}

TEST(OrderScores, OfOneClassAreAbsent) {
  const auto vote = votes(logs({{1, 2, 4}}), 1);
  const OrderScores scores = order_scores(input_of(logs({{4, 2, 1}}), logs({{4, 2, 1}})), vote);
  EXPECT_EQ(scores.order_specificity, std::nullopt);
  EXPECT_EQ(scores.pair_specificity, std::nullopt);
}

TEST(OrderScores, AverageOverTheSeedsThatHaveThem) {
  OrderScores a, b;
  a.pair_auc = 0.6;
  b.pair_auc = 0.8;
  a.order_auc = 0.7;
  const OrderScores both = average(std::vector<OrderScores>{a, b});
  EXPECT_THAT(both.pair_auc, Optional(NearShare(0.7)));
  EXPECT_THAT(both.order_auc, Optional(0.7));
  EXPECT_EQ(both.order_specificity, std::nullopt);
}

}  // namespace
}  // namespace perfcast::program
