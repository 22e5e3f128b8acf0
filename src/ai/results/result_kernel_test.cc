#include "ai/results/result_kernel.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "ai/results/made_up_results.h"
#include "learn/algebra/dense.h"

namespace perfcast::ai {
namespace {

TEST(ResultKernel, IsACovariance) {
  const auto devices = made_up_devices();
  auto rows = result_rows(made_up_results(devices, 1), devices);
  rows.resize(60);
  rows[3].facts.fill(kUnknown);  // an accelerator of which nothing is known
  rows[3].accelerator = rows[3].whole = rows[3].generation = "unknown";
  std::vector<size_t> all(rows.size());
  std::iota(all.begin(), all.end(), size_t{0});
  const ResultPoints points(rows, all);
  Eigen::MatrixXd matrix(60, 60);
  for (Eigen::Index i = 0; i < 60; ++i) {
    for (Eigen::Index j = 0; j < 60; ++j)
      matrix(i, j) = points.covariance(static_cast<size_t>(i), static_cast<size_t>(j), usual_variances());
  }
  EXPECT_TRUE(matrix.isApprox(matrix.transpose()));
  EXPECT_TRUE(is_positive_definite(matrix));
}

TEST(ResultKernel, ExpectsThePeakOfAllAccelerators) {
  const auto devices = made_up_devices();
  auto rows = result_rows(made_up_results(devices, 1), devices);
  rows.resize(2);
  rows[1] = rows[0];
  rows[1].count = 8;
  const ResultPoints points(rows, {0, 1});
  EXPECT_NEAR(points.expected(1) - points.expected(0), std::log(8.0), 1e-12);
  rows[0].scenario = rows[1].scenario = "SingleStream";
  const ResultPoints latency(rows, {0, 1});
  EXPECT_EQ(latency.expected(1), latency.expected(0));
}

TEST(ResultKernel, NamesEachTermOnce) {
  std::set<std::string> names;
  for (size_t t = 0; t < kResultTerms; ++t) {
    names.insert(name_of(static_cast<ResultTerm>(t)));
    EXPECT_GT(usual_variances()[t], 0);
  }
  EXPECT_EQ(names.size(), kResultTerms);
}

}  // namespace
}  // namespace perfcast::ai
