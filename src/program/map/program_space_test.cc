#include "program/map/program_space.h"

#include <gmock/gmock.h>

#include "base/unknown.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/model/fit/standardised_inputs.h"

namespace perfcast::program {
namespace {

TEST(ProgramSpace, TimeDistancesAreAboutTheSharedPlatforms) {
  Eigen::MatrixXd times(3, 3);
  times << 0, 1, 2,  //
      5, 6, 7.6,     // 5 more, and 0.6 on the last
      1, kUnknown, kUnknown;
  const Eigen::MatrixXd distances = time_distances(times);
  EXPECT_DOUBLE_EQ(distances(0, 0), 0);
  // Differences 5, 5, 5.6: deviation of 0, 0, 0.6 about 0.2.
  EXPECT_NEAR(distances(0, 1), std::sqrt((0.04 + 0.04 + 0.16) / 3), 1e-12);
  EXPECT_DOUBLE_EQ(distances(1, 0), distances(0, 1));
  EXPECT_TRUE(std::isnan(distances(0, 2))) << "one shared platform says nothing of relative times";
}

TEST(ProgramSpace, ProfileDistancesAreOverWhatBothHave) {
  Eigen::MatrixXd rows(2, 3);
  rows << 0, 0, 1,  //
      3, kUnknown, 5;
  EXPECT_DOUBLE_EQ(profile_distances(rows, rows)(0, 1), std::sqrt((9.0 + 16) / 2));
  const Eigen::MatrixXd similarity = profile_similarity(rows, rows);
  EXPECT_DOUBLE_EQ(similarity(0, 0), 1);
  EXPECT_NEAR(similarity(0, 1), std::exp(-0.5 * (9.0 + 0 + 16) / 3), 1e-12);
}

TEST(ProgramSpace, FamiliesWeighTheSame) {
  const auto table = make_training_table(synthetic_corpus({}), {});
  ASSERT_TRUE(table.ok());
  const ProgramSpace space = make_program_space(table->programs, profiles_of(*table), table->inputs);
  EXPECT_NEAR(space.weights.sum(), 8, 1e-9);
  EXPECT_EQ(space.family.back(), 7);
  EXPECT_EQ(space.rows.rows(), 24);
  EXPECT_GT(space.usual_distance, 0);
  // Placing the programs again gives the same points.
  const Eigen::MatrixXd again = space.place(profiles_of(*table));
  const auto same = again.array() == space.rows.array() || (again.array().isNaN() && space.rows.array().isNaN());
  EXPECT_TRUE(same.all());
}

}  // namespace
}  // namespace perfcast::program
