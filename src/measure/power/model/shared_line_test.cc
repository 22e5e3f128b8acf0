#include "measure/power/model/shared_line.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/random.h"

namespace perfcast::measure {
namespace {

// Groups g with y = (1 + own(g)) x + 2 + g, two workloads each.
struct Lines {
  Eigen::MatrixXd inputs;
  Eigen::VectorXd target;
  std::vector<int> group, workload;
  std::vector<size_t> rows;

  explicit Lines(const std::vector<double>& own) {
    Random random(3);
    const auto n = static_cast<Eigen::Index>(own.size() * 40);
    inputs.resize(n, 2);
    target.resize(n);
    for (Eigen::Index r = 0; r < n; ++r) {
      const auto g = static_cast<size_t>(r) / 40;
      inputs(r, 0) = random.normal();
      inputs(r, 1) = 1;
      target(r) = (1 + own[g]) * inputs(r, 0) + 2 + static_cast<double>(g);
      group.push_back(static_cast<int>(g));
      workload.push_back(static_cast<int>(r) % 2);
      rows.push_back(static_cast<size_t>(r));
    }
  }
  LineMoments moments() const { return {inputs, target, group, workload, rows}; }
};

bool every_cell(const LineMoments::Cell&) { return true; }

TEST(SharedLine, FindsEachGroupsLineWithSmallPenalties) {
  const Lines lines({-0.2, 0, 0.2});
  const SharedLine fitted = SharedLine::fit(lines.moments(), every_cell, {1e-8, 1e-6, 1e-8});
  for (int g = 0; g < 3; ++g) {
    EXPECT_NEAR(fitted.coefficients(g)(0), 0.8 + 0.2 * g, 1e-3);
    EXPECT_NEAR(fitted.coefficients(g)(1), 2 + g, 1e-3);
  }
  EXPECT_NEAR(fitted.noise_variance(), 0, 1e-5);
}

TEST(SharedLine, AGreatOwnPenaltyLeavesOneSlope) {
  const Lines lines({-0.2, 0, 0.2});
  const SharedLine fitted = SharedLine::fit(lines.moments(), every_cell, {1e-8, 1e6, 1e-8});
  EXPECT_NEAR(fitted.coefficients(0)(0), fitted.coefficients(2)(0), 1e-3);
  EXPECT_NEAR(fitted.coefficients(7)(0), 1, 0.02);  // a group that was never seen
}

TEST(SharedLine, SolvesTheWholeSystem) {
  // The same by one dense system over shared and own coefficients.
  const Lines lines({0.3, -0.1});
  const SharedLineOptions options{0.05, 0.2, 0.01};
  const LineMoments moments = lines.moments();
  const SharedLine fitted = SharedLine::fit(moments, every_cell, options);
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(6, 6);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(6);
  for (const LineMoments::Cell& cell : moments.cells()) {
    const Eigen::Index own = 2 + 2 * cell.group;
    for (const Eigen::Index p : {Eigen::Index{0}, own}) {
      for (const Eigen::Index q : {Eigen::Index{0}, own}) a.block(p, q, 2, 2) += cell.gram / 4;
      b.segment(p, 2) += cell.moment / 4;
    }
  }
  a.diagonal() += Eigen::VectorXd{{0.05, 1e-6, 0.2, 0.01, 0.2, 0.01}};
  Eigen::VectorXd solved(6);
  solved << fitted.shared(), fitted.own().col(0), fitted.own().col(1);
  EXPECT_LT((a * solved - b).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(SharedLine, LeavesOutWhatItIsTold) {
  const Lines lines({0, 0, 0.5});
  const SharedLine fitted = SharedLine::fit(
      lines.moments(), [](const LineMoments::Cell& cell) { return cell.group < 2; }, {1e-8, 1e-3, 1e-8});
  EXPECT_EQ(fitted.groups(), (std::vector<int>{0, 1}));
  EXPECT_NEAR(fitted.coefficients(2)(0), 1, 0.01);
}

TEST(SharedLine, SamplesMoveANewGroupFromThePrior) {
  const Lines lines({-0.1, 0, 0.1});
  const SharedLine fitted = SharedLine::fit(lines.moments(), every_cell, {1e-8, 1e-3, 1e-8});
  const Eigen::VectorXd prior{{0.04, 1.0}};
  const SharedLine::Updated none = fitted.update(Eigen::MatrixXd(0, 2), Eigen::VectorXd(0), 0.01, prior);
  EXPECT_EQ(none.coefficients, fitted.shared());
  Eigen::MatrixXd inputs(20, 2);
  Eigen::VectorXd target(20);
  for (Eigen::Index i = 0; i < 20; ++i) {
    inputs.row(i) << static_cast<double>(i) / 10 - 1, 1;
    target(i) = 1.4 * inputs(i, 0) + 9;
  }
  const SharedLine::Updated many = fitted.update(inputs, target, 1e-4, prior);
  EXPECT_NEAR(many.coefficients(0), 1.4, 0.01);
  EXPECT_NEAR(many.coefficients(1), 9, 0.01);
  EXPECT_LT(many.covariance(1, 1), none.covariance(1, 1));
  const SharedLine::Updated one = fitted.update(inputs.topRows(1), target.head(1), 1e-4, prior);
  EXPECT_GT(one.covariance(0, 0), many.covariance(0, 0));
}

}  // namespace
}  // namespace perfcast::measure
