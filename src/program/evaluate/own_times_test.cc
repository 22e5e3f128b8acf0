#include "program/evaluate/own_times.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/unknown.h"

namespace perfcast::program {
namespace {

Platform platform(const std::string& name, const std::string& vendor, int family, int model) {
  Platform result;
  result.id = result.name = name;
  result.vendor = vendor;
  result.cpu_family = family;
  result.model = model;
  return result;
}

TEST(OwnTimes, AnEntryIsTheMeanAndWhatTheProgramsOtherTimesOfTheDesignDepartFromIt) {
  const std::vector<Platform> platforms = {platform("a", "AMD", 25, 1), platform("b", "AMD", 25, 1),
                                           platform("c", "AMD", 25, 1), platform("d", "AMD", 26, 2)};
  Eigen::MatrixXd times(1, 4), mean(1, 4);
  mean << 0.0, 0.1, 0.2, 0.3;
  times << 1.0 + 0.0 + 0.3, 1.0 + 0.1 + 0.5, 1.0 + 0.2 - 0.1, 1.0 + 0.3;
  const Eigen::MatrixXd own = own_times_by_design(platforms, times, mean);
  EXPECT_NEAR(own(0, 0), 1.0 + 0.0 + (0.5 - 0.1) / 2, 1e-12);
  EXPECT_NEAR(own(0, 1), 1.0 + 0.1 + (0.3 - 0.1) / 2, 1e-12);
  EXPECT_NEAR(own(0, 2), 1.0 + 0.2 + (0.3 + 0.5) / 2, 1e-12);
  EXPECT_TRUE(std::isnan(own(0, 3)));  // the only one of its design
}

TEST(OwnTimes, WhatWasNotMeasuredAndUnknownDesignsHaveNone) {
  const std::vector<Platform> platforms = {platform("a", "AMD", 25, 1), platform("b", "AMD", 25, 1),
                                           platform("c", "none", 0, 0), platform("d", "none", 0, 0)};
  Eigen::MatrixXd times(2, 4), mean = Eigen::MatrixXd::Zero(2, 4);
  times << 1.0, kUnknown, 2.0, 2.0, 1.0, 1.5, 2.0, 2.0;
  const Eigen::MatrixXd own = own_times_by_design(platforms, times, mean);
  EXPECT_TRUE(std::isnan(own(0, 0)));
  EXPECT_TRUE(std::isnan(own(0, 1)));
  EXPECT_NEAR(own(1, 0), 1.5, 1e-12);
  EXPECT_TRUE(std::isnan(own(1, 2)));
}

}  // namespace
}  // namespace perfcast::program
