#include "studies/adapt/head_learner.h"

#include <gmock/gmock.h>

#include "base/random.h"
#include "base/unknown.h"

namespace perfcast::program::adapt_study {
namespace {

// Programs of two kinds, told by one input; on each task the kinds are off by amounts of their own.
struct TwoKinds {
  RowMatrixF programs = RowMatrixF::Zero(40, 2);
  Eigen::MatrixXd surprises;
  explicit TwoKinds(Eigen::Index tasks, uint64_t seed) : surprises(40, tasks) {
    Random random(seed);
    for (Eigen::Index p = 0; p < 40; ++p) programs(p, p % 2) = 1;
    for (Eigen::Index j = 0; j < tasks; ++j) {
      const double of_even = 0.1 * random.normal(), of_odd = 0.1 * random.normal();
      for (Eigen::Index p = 0; p < 40; ++p) {
        surprises(p, j) = (p % 2 == 0 ? of_even : of_odd) + 0.01 * random.normal();
      }
    }
  }
};

double mean_error(const HeadLearner& learner, const Eigen::VectorXd& surprises) {
  const std::vector<Eigen::Index> where{0, 1, 2, 3};
  const Eigen::VectorXd forecast = learner.forecast(where, surprises(where));
  return (forecast - surprises).tail(36).cwiseAbs().mean();
}

TEST(HeadLearner, LearnsWhatProgramsShare) {
  const TwoKinds seen(30, 1), unseen(10, 2);
  const auto learners = HeadLearner::train(seen.programs, seen.surprises, {2, 4}, {}, {0, 300}, 1);
  ASSERT_TRUE(learners) << learners.error().message;
  ASSERT_EQ(learners->size(), 2U);
  double nothing = 0, at_first = 0, learned = 0;
  for (Eigen::Index j = 0; j < unseen.surprises.cols(); ++j) {
    const Eigen::VectorXd own = unseen.surprises.col(j);
    nothing += own.tail(36).cwiseAbs().mean();
    at_first += mean_error(learners->front(), own);
    learned += mean_error(learners->back(), own);
  }
  EXPECT_LT(learned, 0.4 * nothing);
  EXPECT_LT(learned, 0.6 * at_first);
}

TEST(HeadLearner, SaysNothingWithoutMeasuredPrograms) {
  const TwoKinds seen(5, 1);
  const auto learners = HeadLearner::train(seen.programs, seen.surprises, {2}, {}, {10}, 1);
  ASSERT_TRUE(learners);
  EXPECT_TRUE(learners->front().forecast({}, Eigen::VectorXd()).isZero());
}

TEST(HeadLearner, TheSeedDecides) {
  TwoKinds seen(5, 1);
  seen.surprises(3, 2) = kUnknown;  // absent is no surprise of 0
  const auto forecast = [&](uint64_t seed) {
    const auto learners = HeadLearner::train(seen.programs, seen.surprises, {2}, {}, {20}, seed);
    EXPECT_TRUE(learners);
    return learners->front().forecast({0, 1}, Eigen::Vector2d(0.1, -0.1));
  };
  EXPECT_EQ(forecast(1), forecast(1));
  EXPECT_NE(forecast(1), forecast(2));
  EXPECT_TRUE(forecast(1).allFinite());
}

TEST(HeadLearner, NeedsSurprises) {
  const TwoKinds seen(1, 1);
  const Eigen::MatrixXd none = Eigen::MatrixXd::Constant(40, 1, kUnknown);
  EXPECT_EQ(HeadLearner::train(seen.programs, none, {2}, {}, {1}, 1).error().code, "unmeasured");
}

}  // namespace
}  // namespace perfcast::program::adapt_study
