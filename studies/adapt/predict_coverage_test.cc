#include "studies/adapt/predict_coverage.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "program/model/test_world.h"

namespace perfcast::program::adapt_study {
namespace {

using testing::HasSubstr;

// Twenty designs of two platforms, whose facts say what a cycle takes and not what each kind of work does.
TrainingTable world_of_designs() {
  testing_world::World world =
      testing_world::additive_world({.programs = 60, .platforms = 40, .families = 30, .noise_log = 0.05});
  for (size_t j = 0; j < world.table.platforms.size(); ++j) {
    Platform& platform = world.table.platforms[j];
    platform.kind = "gpu";  // whose design is its arch
    platform.arch = "design" + std::to_string(j / 2);
    const double log_cost = world.cost_factor.col(static_cast<Eigen::Index>(j)).array().log().mean();
    platform.facts["max_hz"] = 1e9 * std::exp(-log_cost);
  }
  return world.table;
}

TEST(PredictCoverage, IntervalsHoldAsOftenAsPromised) {
  PredictCoverageOptions options;
  options.counts = {0, 5, 20};
  options.model = "kernel";
  const auto found = predict_coverage(world_of_designs(), options);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->designs.size(), 20U);
  size_t points = 0;
  for (const PredictPoint& point : found->points) {
    if (!point.group.empty()) continue;
    ++points;
    EXPECT_GE(point.coverage_90, 0.85) << point.count;
    EXPECT_LE(point.coverage_90, 0.97) << point.count;
    EXPECT_EQ(point.entries, 40 * 32);  // half of the families
  }
  EXPECT_EQ(points, 3U);
}

TEST(PredictCoverage, OneDesignCanBeLeftOutAlone) {
  PredictCoverageOptions options;
  options.counts = {3};
  options.model = "mean";
  options.folds_run = 1;
  options.only_design = "design2";
  const auto found = predict_coverage(world_of_designs(), options);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->designs, testing::ElementsAre("design2"));
  options.only_design = "design77";
  const auto unknown = predict_coverage(world_of_designs(), options);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "unknown-design");
  EXPECT_THAT(unknown.error().expected, HasSubstr("design2"));
}

}  // namespace
}  // namespace perfcast::program::adapt_study
