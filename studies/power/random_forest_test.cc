#include "studies/power/random_forest.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace perfcast::measure::power_study {
namespace {

TEST(RandomForest, FollowsStepsAndTakesTheSeed) {
  Random random(5);
  Eigen::MatrixXd rows(600, 3);
  for (double& value : rows.reshaped()) value = random.uniform();
  const auto truth = [&rows](Eigen::Index r) {
    return (rows(r, 0) > 0.5 ? 2.0 : 0.0) + (rows(r, 1) > 0.3 ? 1.0 : 0.0);
  };
  Eigen::VectorXd target(600);
  for (Eigen::Index r = 0; r < 600; ++r) target(r) = truth(r);
  const Eigen::MatrixXd known = rows.topRows(500);
  RandomForestOptions options;
  options.tried_share = 1;  // one of three columns says nothing
  const RandomForest forest = RandomForest::fit(known, target.head(500), Eigen::VectorXd::Ones(500), options);
  const RandomForest again = RandomForest::fit(known, target.head(500), Eigen::VectorXd::Ones(500), options);
  double error = 0;
  for (Eigen::Index r = 500; r < 600; ++r) {
    error += std::abs(forest.predict(rows.row(r)) - truth(r)) / 100;
    EXPECT_EQ(forest.predict(rows.row(r)), again.predict(rows.row(r)));
  }
  EXPECT_LT(error, 0.15);
}

TEST(RandomForest, OfOneValueSaysIt) {
  const RandomForest forest =
      RandomForest::fit(Eigen::MatrixXd::Ones(20, 2), Eigen::VectorXd::Constant(20, 3), Eigen::VectorXd::Ones(20), {});
  EXPECT_NEAR(forest.predict(Eigen::RowVectorXd::Zero(2)), 3, 1e-12);
}

}  // namespace
}  // namespace perfcast::measure::power_study
