#include "program/model/attribution/group_shapley.h"

#include <gmock/gmock.h>

#include <cmath>

namespace perfcast::program {
namespace {

const std::vector<std::string> kNames = {"a_1", "a_2", "b_1", "b_2", "c_1"};

AttributedRows five_inputs() {
  AttributedRows rows;
  rows.own = Eigen::RowVectorXd::LinSpaced(5, 1, 5);
  rows.reference = Eigen::RowVectorXd::Zero(5);
  return rows;
}

TEST(GroupShapley, IsExactForProductsOfTwo) {
  const RowForecast forecast = [](const Eigen::MatrixXd& x) -> Eigen::MatrixXd {
    Eigen::MatrixXd result(x.rows(), 2);
    result.col(0) = x.col(0).cwiseProduct(x.col(1)) + x.col(2).cwiseProduct(x.col(4)) + 7 * x.col(3);
    result.col(1) = -result.col(0);
    return result;
  };
  const Eigen::MatrixXd log = group_shapley(forecast, five_inputs(), kNames, {});
  const Eigen::VectorXd expected = (Eigen::VectorXd(5) << 1, 1, 7.5, 28, 7.5).finished();
  EXPECT_TRUE(log.col(0).isApprox(expected, 1e-12)) << log.col(0).transpose();
  EXPECT_TRUE(log.col(1).isApprox(-expected, 1e-12));
}

// Jumps and products of three: what is drawn decides within a group, never between groups nor the sum.
TEST(GroupShapley, SumsAreExactWhateverIsDrawn) {
  const RowForecast forecast = [](const Eigen::MatrixXd& x) -> Eigen::MatrixXd {
    Eigen::MatrixXd result(x.rows(), 1);
    for (Eigen::Index r = 0; r < x.rows(); ++r) {
      result(r, 0) = x(r, 0) * x(r, 1) * x(r, 4) + (x(r, 2) + x(r, 3) > 5 ? std::exp(x(r, 0)) : 0);
    }
    return result;
  };
  AttributionRequest one, another;
  another.seed = 2;
  const Eigen::MatrixXd a = group_shapley(forecast, five_inputs(), kNames, one);
  const Eigen::MatrixXd b = group_shapley(forecast, five_inputs(), kNames, another);
  EXPECT_EQ(a, group_shapley(forecast, five_inputs(), kNames, one));
  EXPECT_NEAR(a.sum(), 1 * 2 * 5 + std::exp(1), 1e-12);
  EXPECT_NEAR(a(0, 0) + a(1, 0), b(0, 0) + b(1, 0), 1e-12);
  EXPECT_NEAR(a(2, 0) + a(3, 0), std::exp(1) / 2 + 0.5, 1);
  EXPECT_NEAR(a(4, 0), b(4, 0), 1e-12);
  EXPECT_NEAR(a(4, 0), 5, 1e-12);  // half of the product of group a with it
}

TEST(GroupShapley, ManyGroupsAndNoDifferences) {
  AttributedRows rows;
  rows.own = Eigen::RowVectorXd::Ones(12);
  rows.reference = Eigen::RowVectorXd::Zero(12);
  std::vector<std::string> names;
  for (char name = 'a'; name < 'm'; ++name) names.push_back(std::string(1, name) + "_1");
  int64_t forecasts = 0;
  const RowForecast sum = [&forecasts](const Eigen::MatrixXd& x) -> Eigen::MatrixXd {
    forecasts += x.rows();
    return x.rowwise().sum();
  };
  EXPECT_TRUE(group_shapley(sum, rows, names, {}).isApprox(Eigen::MatrixXd::Ones(12, 1), 1e-12));
  EXPECT_LT(forecasts, 4000);
  rows.own = rows.reference;
  EXPECT_TRUE(group_shapley(sum, rows, names, {}).isZero(0));
}

}  // namespace
}  // namespace perfcast::program
