#include "ai/latency/fit/bounded_least_squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace perfcast::ai {
namespace {

using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

VectorXd vector_of(std::initializer_list<double> values) {
  VectorXd out(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

VectorXd unbounded(Eigen::Index size) { return VectorXd::Constant(size, kInfinity); }

void rosenbrock(const VectorXd& p, Eigen::Ref<VectorXd> r) {
  r[0] = 10 * (p[1] - p[0] * p[0]);
  r[1] = 1 - p[0];
}

TEST(FitBounded, FindsRosenbrocksMinimum) {
  const auto fit = fit_bounded(rosenbrock, 2, vector_of({-1.2, 1}), -unbounded(2), unbounded(2));
  ASSERT_TRUE(fit) << to_text(fit.error());
  EXPECT_TRUE(fit->converged);
  EXPECT_NEAR(fit->parameters[0], 1, 1e-6);
  EXPECT_NEAR(fit->parameters[1], 1, 1e-6);
  EXPECT_LT(fit->cost, 1e-12);
}

// With x <= 1/2 the minimum is at x = 1/2, y = 1/4, where the cost is (1 - x)^2 / 2.
TEST(FitBounded, StopsAtTheBoundThatIsInTheWay) {
  const auto fit = fit_bounded(rosenbrock, 2, vector_of({-1.2, 1}), -unbounded(2), vector_of({0.5, kInfinity}));
  ASSERT_TRUE(fit) << to_text(fit.error());
  EXPECT_TRUE(fit->converged);
  EXPECT_EQ(fit->parameters[0], 0.5);
  EXPECT_NEAR(fit->parameters[1], 0.25, 1e-6);
  EXPECT_NEAR(fit->cost, 0.125, 1e-10);
}

// Two linear unknowns whose free minimum, (3, -2), lies outside of [0, 2] x [-1, 1] in both: the corner is the answer
// although the unknowns pull at each other.
TEST(FitBounded, EndsInTheCornerOfTheBox) {
  const auto linear = [](const VectorXd& p, Eigen::Ref<VectorXd> r) {
    r[0] = p[0] + 0.2 * p[1] - 2.6;
    r[1] = p[1] + 2;
  };
  const auto fit = fit_bounded(linear, 2, vector_of({1, 0.5}), vector_of({0, -1}), vector_of({2, 1}));
  ASSERT_TRUE(fit) << to_text(fit.error());
  EXPECT_EQ(fit->parameters[0], 2);
  EXPECT_EQ(fit->parameters[1], -1);
  EXPECT_NEAR(fit->cost, 0.5 * (0.8 * 0.8 + 1), 1e-12);
}

// y = 3 exp(-0.7 x) + 0.5 with one value in eight far off: soft-L1 finds the curve, plain squares don't.
TEST(FitBounded, SoftScaleShrugsOffOutliers) {
  constexpr int kPoints = 64;
  const auto curve = [](const VectorXd& p, Eigen::Ref<VectorXd> r) {
    for (int i = 0; i < kPoints; ++i) {
      const double x = 0.1 * i;
      double y = 3 * std::exp(-0.7 * x) + 0.5;
      if (i % 8 == 3) y += 5;
      r[i] = p[0] * std::exp(-p[1] * x) + p[2] - y;
    }
  };
  const VectorXd start = vector_of({1, 0.1, 0});
  const VectorXd lower = vector_of({0, 0, -10}), upper = vector_of({100, 10, 10});
  BoundedFitOptions robust;
  robust.soft_scale = 0.001;
  const auto fit = fit_bounded(curve, kPoints, start, lower, upper, robust);
  ASSERT_TRUE(fit) << to_text(fit.error());
  EXPECT_NEAR(fit->parameters[0], 3, 0.01);
  EXPECT_NEAR(fit->parameters[1], 0.7, 0.01);
  EXPECT_NEAR(fit->parameters[2], 0.5, 0.01);
  const auto squares = fit_bounded(curve, kPoints, start, lower, upper);
  ASSERT_TRUE(squares);
  EXPECT_GT(squares->parameters[2], 0.8);  // the mean of the outliers' share, 5 / 8, goes into the constant
}

// With one parameter the minimum of the soft-L1 cost is where sum r / sqrt(1 + (r/s)^2) is zero: exact here for
// residuals p - {0, 0, 3} and s = 1, at 2 p / sqrt(1 + p^2) = (3 - p) / sqrt(1 + (3 - p)^2).
TEST(FitBounded, CostIsSoftL1) {
  const auto constant = [](const VectorXd& p, Eigen::Ref<VectorXd> r) {
    r[0] = r[1] = p[0];
    r[2] = p[0] - 3;
  };
  BoundedFitOptions options;
  options.soft_scale = 1;
  const auto fit = fit_bounded(constant, 3, vector_of({2}), -unbounded(1), unbounded(1), options);
  ASSERT_TRUE(fit);
  const double p = fit->parameters[0];
  EXPECT_NEAR(2 * p / std::sqrt(1 + p * p), (3 - p) / std::sqrt(1 + (3 - p) * (3 - p)), 1e-5);
  EXPECT_LT(p, 0.6);  // the mean, which squares would find, is 1
  EXPECT_NEAR(fit->cost, 2 * (std::sqrt(1 + p * p) - 1) + std::sqrt(1 + (3 - p) * (3 - p)) - 1, 1e-12);
}

TEST(FitBounded, EqualBoundsHoldAParameterAndStartsAreMovedInside) {
  const auto fit =
      fit_bounded(rosenbrock, 2, vector_of({9, 9}), vector_of({0.3, -kInfinity}), vector_of({0.3, kInfinity}));
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->parameters[0], 0.3);
  EXPECT_NEAR(fit->parameters[1], 0.09, 1e-8);
}

// log p has no value below zero: a step that would go there is refused, not followed.
TEST(FitBounded, StepsWithoutAValueAreRefused) {
  const auto logs = [](const VectorXd& p, Eigen::Ref<VectorXd> r) { r[0] = std::log(p[0]) + 5; };
  const auto fit = fit_bounded(logs, 1, vector_of({4}), -unbounded(1), unbounded(1));
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->parameters[0], std::exp(-5), 1e-8);
}

TEST(FitBounded, ParametersWithoutEffectStayWhereTheyAre) {
  const auto one = [](const VectorXd& p, Eigen::Ref<VectorXd> r) { r[0] = p[0] - 2; };
  const auto fit = fit_bounded(one, 1, vector_of({0, 7}), -unbounded(2), unbounded(2));
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->parameters[0], 2, 1e-8);
  EXPECT_EQ(fit->parameters[1], 7);
}

TEST(FitBounded, RefusesWhatIsNoProblem) {
  const VectorXd one = vector_of({1}), two = vector_of({1, 2});
  const auto code = [](const Result<BoundedFit>& fit) { return fit ? std::string("ok") : fit.error().code; };
  EXPECT_EQ(code(fit_bounded(rosenbrock, 2, two, one, two)), "bad-fit");
  EXPECT_EQ(code(fit_bounded(rosenbrock, 0, two, two, two)), "bad-fit");
  EXPECT_EQ(code(fit_bounded(rosenbrock, 2, two, unbounded(2), -unbounded(2))), "bad-fit");
  EXPECT_EQ(code(fit_bounded(rosenbrock, 2, vector_of({NAN, 1}), -unbounded(2), unbounded(2))), "bad-fit");
  const auto nowhere = [](const VectorXd&, Eigen::Ref<VectorXd> r) { r.setConstant(NAN); };
  EXPECT_EQ(code(fit_bounded(nowhere, 2, two, -unbounded(2), unbounded(2))), "bad-fit");
}

}  // namespace
}  // namespace perfcast::ai
