#include "program/model/adapt/transfer_prior.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "base/unknown.h"
#include "program/model/adapt/adapt_world.h"

namespace perfcast::program {
namespace {

using adapt_world::adapt_world;
using adapt_world::AdaptWorld;

std::vector<size_t> first(size_t count) {
  std::vector<size_t> indices(count);
  std::iota(indices.begin(), indices.end(), size_t{0});
  return indices;
}

// Where the last design is new: typical error over the programs beyond the first `measured`, which were measured.
double error_with(const AdaptWorld& world, size_t measured) {
  const size_t known = world.platforms.size() - 4, platform = known;
  const auto prior = TransferPrior::learn(world.platforms, first(known), world.log_times, {}, world.programs, {});
  EXPECT_TRUE(prior);
  std::vector<Eigen::Index> where(measured);
  std::iota(where.begin(), where.end(), Eigen::Index{0});
  const Eigen::VectorXd truth = world.log_times.col(static_cast<Eigen::Index>(platform));
  const Gaussian posterior = prior->update(prior->prior(platform), where, truth(where));
  return (posterior.mean - truth).tail(world.log_times.rows() - static_cast<Eigen::Index>(measured)).cwiseAbs().mean();
}

TEST(TransferPrior, FactsAloneBeatTheMeanOfPlatforms) {
  const AdaptWorld world = adapt_world();
  const Eigen::VectorXd truth = world.log_times.col(20);
  const double of_mean = (world.log_times.leftCols(20).rowwise().mean() - truth).cwiseAbs().mean();
  EXPECT_LT(error_with(world, 0), 0.5 * of_mean);
}

TEST(TransferPrior, MeasuredProgramsTellOfOthers) {
  const AdaptWorld world = adapt_world();
  EXPECT_LT(error_with(world, 6), 0.7 * error_with(world, 0));
  EXPECT_LT(error_with(world, 6), 0.03);
}

TEST(TransferPrior, WhatWasMeasuredIsKnown) {
  const AdaptWorld world = adapt_world();
  const auto prior = TransferPrior::learn(world.platforms, first(20), world.log_times, {}, world.programs, {});
  ASSERT_TRUE(prior);
  const Gaussian before = prior->prior(21);
  const Gaussian after = prior->update(before, {3}, Eigen::VectorXd::Constant(1, before.mean(3) + 0.3));
  EXPECT_GT(after.mean(3), before.mean(3) + 0.15);
  EXPECT_LT(after.mean(3), before.mean(3) + 0.31);
  EXPECT_LT(after.covariance(3, 3), before.covariance(3, 3));
  // What all programs share moves with it.
  EXPECT_GT((after.mean - before.mean).minCoeff(), 0);
}

// In closed form what leaving each out one by one gives.
TEST(TransferPrior, RunsAreCheckedAgainstEachOther) {
  const AdaptWorld world = adapt_world();
  const auto prior = TransferPrior::learn(world.platforms, first(20), world.log_times, {}, world.programs, {});
  ASSERT_TRUE(prior);
  const Gaussian belief = prior->prior(21);
  const std::vector<Eigen::Index> where = {1, 4, 6, 9, 12};
  const Eigen::VectorXd times = world.log_times.col(21)(where);
  double facts = 0, runs = 0;
  for (size_t left = 0; left < where.size(); ++left) {
    std::vector<Eigen::Index> others = where;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left));
    const Gaussian without = prior->update(belief, others, world.log_times.col(21)(others));
    const double time = times(static_cast<Eigen::Index>(left));
    facts += std::abs(belief.mean(where[left]) - time) / 5;
    runs += std::abs(without.mean(where[left]) - time) / 5;
  }
  const TransferCheck check = prior->check(belief, where, times);
  EXPECT_EQ(check.programs, 5U);
  EXPECT_NEAR(check.facts_error_log, facts, 1e-9);
  EXPECT_NEAR(check.runs_error_log, runs, 1e-9);
  EXPECT_EQ(check.share, 1);
  EXPECT_EQ(check.kept_error_log, check.runs_error_log);
  EXPECT_EQ(prior->check(belief, {1}, times.head(1)).programs, 0U);  // nothing is left to forecast it from

  // Up and down by turns, where a shift of one is a shift of all.
  Eigen::VectorXd contrary = belief.mean(where);
  for (Eigen::Index i = 0; i < contrary.size(); ++i) contrary(i) += i % 2 == 0 ? 0.5 : -0.5;
  const TransferCheck worse = prior->check(belief, where, contrary);
  EXPECT_LT(worse.share, 1);
  EXPECT_LE(worse.kept_error_log, worse.facts_error_log + TransferCheck::kWorseByChanceLog / 5);
}

TEST(TransferPrior, AShareOfAnUpdateLeavesItsDoubt) {
  Gaussian prior{Eigen::VectorXd::Constant(1, 1.0), Eigen::MatrixXd::Constant(1, 1, 4.0)};
  Gaussian updated{Eigen::VectorXd::Constant(1, 3.0), Eigen::MatrixXd::Constant(1, 1, 1.0)};
  const Gaussian half = TransferPrior::with_share(prior, updated, 0.5);
  EXPECT_DOUBLE_EQ(half.mean(0), 2);
  EXPECT_DOUBLE_EQ(half.covariance(0, 0), 4 - 0.75 * 3);
  EXPECT_EQ(TransferPrior::with_share(prior, updated, 0).mean(0), 1);
  EXPECT_EQ(TransferPrior::with_share(prior, updated, 1).covariance(0, 0), 1);
}

TEST(TransferPrior, AbsentTimesAreCarriedOver) {
  AdaptWorld world = adapt_world();
  for (Eigen::Index p = 0; p < 10; ++p) {
    for (Eigen::Index j = p % 3; j < 20; j += 3) world.log_times(p, j) = kUnknown;
  }
  const auto prior = TransferPrior::learn(world.platforms, first(20), world.log_times, {}, world.programs, {});
  ASSERT_TRUE(prior);
  EXPECT_TRUE(prior->filled().allFinite());
  const Gaussian belief = prior->prior(22);
  EXPECT_TRUE(belief.mean.allFinite());
  EXPECT_LT((belief.mean - world.log_times.col(22)).cwiseAbs().mean(), 0.15);
}

TEST(TransferPrior, IntervalsOfADesignLeftOutCover) {
  const AdaptWorld world = adapt_world(10, 3, 30, 7);
  double covered = 0, count = 0;
  for (size_t design = 0; design < 10; ++design) {
    std::vector<size_t> known;
    for (size_t j = 0; j < world.platforms.size(); ++j) {
      if (j / 3 != design) known.push_back(j);
    }
    const auto prior = TransferPrior::learn(world.platforms, known, world.log_times, {}, world.programs, {});
    ASSERT_TRUE(prior);
    const Gaussian belief = prior->prior(3 * design);
    const Eigen::VectorXd truth = world.log_times.col(static_cast<Eigen::Index>(3 * design));
    const std::vector<Eigen::Index> where = {0, 5};
    const Gaussian posterior = prior->update(belief, where, truth(where));
    const Eigen::VectorXd multiple = prior->interval_multiples(belief, where, truth(where), 0.9);
    for (Eigen::Index p = 6; p < truth.size(); ++p) {
      const double half = multiple(p) * std::sqrt(std::max(posterior.covariance(p, p), 1e-4));
      covered += std::abs(posterior.mean(p) - truth(p)) <= half ? 1 : 0;
      ++count;
    }
  }
  EXPECT_GT(covered / count, 0.8);
}

TEST(TransferPrior, OneDesignTellsOfLevelsOnly) {
  const AdaptWorld world = adapt_world(2, 4);
  const auto prior = TransferPrior::learn(world.platforms, first(4), world.log_times, {}, world.programs, {});
  ASSERT_TRUE(prior);
  const Gaussian before = prior->prior(5);
  EXPECT_NEAR(before.mean(0), world.log_times.row(0).head(4).mean(), 1e-9);
  const Gaussian after = prior->update(before, {0}, Eigen::VectorXd::Constant(1, before.mean(0) - 1));
  EXPECT_LT((after.mean - before.mean).maxCoeff(), -0.7);
  EXPECT_GE(prior->interval_multiples(before, {0}, before.mean.head(1), 0.9)(0), 1.6);
}

TEST(TransferPrior, RefusesTooFewPlatforms) {
  const AdaptWorld world = adapt_world();
  const auto prior = TransferPrior::learn(world.platforms, first(2), world.log_times, {}, world.programs, {});
  ASSERT_FALSE(prior);
  EXPECT_EQ(prior.error().code, "too-few-platforms");
}

TEST(TransferPrior, RefusesProgramsThatNobodyTimed) {
  AdaptWorld world = adapt_world();
  world.log_times.row(2).head(20).setConstant(kUnknown);
  const auto prior = TransferPrior::learn(world.platforms, first(20), world.log_times, {}, world.programs, {});
  ASSERT_FALSE(prior);
  EXPECT_EQ(prior.error().code, "unmeasured");
  EXPECT_EQ(prior.error().where, "program2");
}

TEST(TransferPrior, SameInputsGiveTheSameNumbers) {
  const AdaptWorld world = adapt_world();
  const auto a = TransferPrior::learn(world.platforms, first(20), world.log_times, {}, world.programs, {});
  const auto b = TransferPrior::learn(world.platforms, first(20), world.log_times, {}, world.programs, {});
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->prior(21).mean, b->prior(21).mean);
}

}  // namespace
}  // namespace perfcast::program
