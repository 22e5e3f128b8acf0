#include "program/model/adapt/program_choice.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::program {
namespace {

// Programs 0 to 2 are of a kind, 3 of its own.
Eigen::MatrixXd kin() {
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Identity(4, 4) * 0.01;
  covariance.topLeftCorner(3, 3).array() += 0.04;
  return covariance;
}

TEST(ProgramChoice, PrefersWhatTellsOfOthers) {
  const auto chosen = choose_programs(kin(), Eigen::VectorXd::Ones(4), Eigen::VectorXd::Ones(4), 0.02, 1);
  ASSERT_EQ(chosen.size(), 1U);
  EXPECT_LT(chosen[0].program, 3);
  EXPECT_LT(chosen[0].deviation_after, chosen[0].deviation_before);
}

TEST(ProgramChoice, CountsSeconds) {
  Eigen::VectorXd seconds(4);
  seconds << 10, 1, 10, 1;
  EXPECT_EQ(choose_programs(kin(), Eigen::VectorXd::Ones(4), seconds, 0.02, 1)[0].program, 1);
}

TEST(ProgramChoice, LeavesOutWhatCannotRun) {
  Eigen::VectorXd seconds(4);
  seconds << NAN, 0, 1, NAN;
  const auto chosen = choose_programs(kin(), Eigen::VectorXd::Ones(4), seconds, 0.02, 4);
  ASSERT_EQ(chosen.size(), 1U);
  EXPECT_EQ(chosen[0].program, 2);
}

TEST(ProgramChoice, RunsOfEachOnce) {
  const auto chosen = choose_programs(kin(), Eigen::VectorXd::Ones(4), Eigen::VectorXd::Ones(4), 0.02, 9);
  EXPECT_LE(chosen.size(), 4U);
  for (size_t i = 1; i < chosen.size(); ++i) {
    EXPECT_LE(chosen[i].deviation_after, chosen[i].deviation_before);
    EXPECT_NE(chosen[i].program, chosen[0].program);
  }
}

}  // namespace
}  // namespace perfcast::program
