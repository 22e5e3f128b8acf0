#include "program/model/fit/out_of_family.h"

#include <gtest/gtest.h>

#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

using testing_world::additive_world;

TEST(OutOfFamily, NeverSeesTheFamilyItForecasts) {
  // Each family's programs are far off the others': only a model that saw the family could follow.
  TrainingTable table = additive_world({.programs = 6, .platforms = 2, .families = 3}).table;
  for (size_t p = 0; p < 6; ++p) {
    const double offset = p % 3 == 0 ? 5 : 0;
    table.times[2 * p]->log_time = offset;
    table.times[2 * p + 1]->log_time = -offset;
  }
  const auto predictions = predict_out_of_family([] { return make_predictor("mean"); }, table, {});
  ASSERT_TRUE(predictions);
  EXPECT_NEAR(predictions->log_rpv(0, 0), 0, 1e-12);
  EXPECT_NEAR(predictions->log_rpv(1, 0), 2.5, 1e-12);
}

TEST(OutOfFamily, DoesNotDependOnThreads) {
  const TrainingTable table = additive_world({.programs = 20, .platforms = 3, .families = 10}).table;
  const auto make = [] { return make_predictor("knn"); };
  const auto one = predict_out_of_family(make, table, {.seed = 1, .threads = 1});
  const auto three = predict_out_of_family(make, table, {.seed = 1, .threads = 3});
  ASSERT_TRUE(one);
  ASSERT_TRUE(three);
  EXPECT_EQ(one->log_rpv, three->log_rpv);
}

TEST(OutOfFamily, NeedsTwoFamilies) {
  const TrainingTable table = additive_world({.programs = 4, .platforms = 2, .families = 1}).table;
  const auto predictions = predict_out_of_family([] { return make_predictor("mean"); }, table, {});
  ASSERT_FALSE(predictions);
  EXPECT_EQ(predictions.error().code, "too-few-families");
}

}  // namespace
}  // namespace perfcast::program
