#include "program/model/fit/targets.h"

#include <gmock/gmock.h>

#include <cmath>

#include "program/model/predictor.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

using testing_world::additive_world;

TEST(LogRpv, IsCentredOverThePlatformsThatArePresent) {
  TrainingTable table = additive_world({.programs = 2, .platforms = 3, .families = 2}).table;
  table.times[0]->log_time = 1;
  table.times[1]->log_time = 3;
  table.times[2].reset();
  const Eigen::MatrixXd rpv = log_rpv(table);
  EXPECT_DOUBLE_EQ(rpv(0, 0), -1);
  EXPECT_DOUBLE_EQ(rpv(0, 1), 1);
  EXPECT_TRUE(std::isnan(rpv(0, 2)));
  EXPECT_NEAR(rpv.row(1).sum(), 0, 1e-12);
}

TEST(Targets, AbsentEntriesFollowProgramAndPlatform) {
  TrainingTable table = additive_world({.programs = 3, .platforms = 3, .families = 3}).table;
  // program + platform exactly: the hole must be filled with what was taken out.
  for (size_t p = 0; p < 3; ++p) {
    for (size_t j = 0; j < 3; ++j)
      table.times[p * 3 + j]->log_time = 10.0 * static_cast<double>(p) + static_cast<double>(j);
  }
  table.times[4].reset();
  const auto targets = make_targets(table);
  ASSERT_TRUE(targets);
  EXPECT_NEAR(targets->log_rpv(1, 1), 0, 1e-6);
  EXPECT_NEAR(targets->log_seconds(1), 11, 1e-6);
  EXPECT_EQ(targets->present(1, 1), 0);
  EXPECT_EQ(targets->present.sum(), 8);
}

TEST(Targets, FamiliesWeighByTheRootOfTheirSize) {
  const auto targets = make_targets(additive_world({.programs = 6, .platforms = 2, .families = 4}).table);
  ASSERT_TRUE(targets);
  EXPECT_EQ(targets->families, 4);
  EXPECT_THAT(targets->family, testing::ElementsAre(0, 1, 2, 3, 0, 1));
  EXPECT_DOUBLE_EQ(targets->weights(0), 1 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(targets->weights(2), 1);
}

TEST(Targets, SaysWhatIsUnmeasured) {
  TrainingTable table = additive_world({.programs = 2, .platforms = 2, .families = 2}).table;
  table.times[1].reset();
  table.times[3].reset();
  const auto targets = make_targets(table);
  ASSERT_FALSE(targets);
  EXPECT_EQ(targets.error().code, "unmeasured");
  EXPECT_EQ(targets.error().where, "p1");
  EXPECT_EQ(make_targets(TrainingTable{}).error().code, "empty-table");
}

TEST(FamilyMeanError, WeighsFamiliesTheSame) {
  Targets targets;
  targets.log_rpv = Eigen::MatrixXd::Zero(3, 1);
  targets.present = Eigen::MatrixXd::Ones(3, 1);
  targets.family = {0, 0, 1};
  targets.families = 2;
  const Eigen::Vector3d predicted(1, -1, 3);
  EXPECT_DOUBLE_EQ(family_mean_error(predicted, targets), 2);
}

}  // namespace
}  // namespace perfcast::program
