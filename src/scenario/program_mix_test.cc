#include "scenario/program_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/test_world.h"
#include "schedule/testing/small_world.h"

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing_world::additive_world;

// Programs of six families on "Platform 0", "1" and "2". All take 9 times as long on the last, but program0, which
// takes 4 times as long there. So a model that never saw it says 9, whatever the folds, if it says what the others do.
TrainingTable one_odd_program() {
  TrainingTable table = additive_world({.programs = 6, .platforms = 3, .families = 6}).table;
  for (size_t p = 0; p < 6; ++p) {
    for (size_t j = 0; j < 3; ++j) table.times[3 * p + j]->log_time = j == 2 ? std::log(p == 0 ? 4 : 9) : 0;
  }
  return table;
}

Cluster first_and_last() { return {{nodes("Platform 0", 1, 4), nodes("p2", 1, 4)}, ""}; }

ProgramMixRequest by_mean() {
  ProgramMixRequest request;
  request.corpus = "folder/corpus.db";
  request.model = "mean";
  request.cores = 3;
  return request;
}

TEST(ProgramMix, TimesAndForecastsOfEachProgramOnTheCluster) {
  const auto mix = make_program_mix(one_odd_program(), first_and_last(), by_mean());
  ASSERT_TRUE(mix) << to_text(mix.error());
  EXPECT_THAT(mix->platforms, ElementsAre("Platform 0", "p2"));
  EXPECT_EQ(mix->source, "6 programs of corpus.db; forecasts by mean without the program's family");
  ASSERT_THAT(mix->programs, SizeIs(6));
  const MixProgram& odd = mix->programs[0];
  EXPECT_EQ(odd.name, "program0");
  EXPECT_EQ(odd.cores, 3);
  // 600 s on the geometric mean of both: 1/2 and 2, forecast as 1/3 and 3.
  ASSERT_THAT(odd.time_s, SizeIs(2));
  EXPECT_NEAR(odd.time_s[0], 300, 1e-9);
  EXPECT_NEAR(odd.time_s[1], 1200, 1e-9);
  EXPECT_NEAR(odd.forecast_s[0], 200, 1e-6);
  EXPECT_NEAR(odd.forecast_s[1], 1800, 1e-6);
  // The others are all alike, so that nothing speaks for an error; who has seen the odd one knows of errors.
  const MixProgram& usual = mix->programs[1];
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(odd.lower_s[i], odd.forecast_s[i], 1e-6);
    EXPECT_NEAR(odd.upper_s[i], odd.forecast_s[i], 1e-6);
    EXPECT_LT(usual.lower_s[i], usual.forecast_s[i]);
    EXPECT_GT(usual.upper_s[i], usual.forecast_s[i]);
  }
  EXPECT_NEAR(usual.time_s[0], 200, 1e-9);
  EXPECT_NEAR(usual.time_s[1], 1800, 1e-9);
}

TEST(ProgramMix, ForecastsAreRightWhereEachProgramWasMeasured) {
  const auto plain = make_program_mix(one_odd_program(), first_and_last(), by_mean());
  ProgramMixRequest request = by_mean();
  request.measured_on = "Platform 0";
  const auto mix = make_program_mix(one_odd_program(), first_and_last(), request);
  ASSERT_TRUE(plain);
  ASSERT_TRUE(mix) << to_text(mix.error());
  for (const MixProgram& program : mix->programs) EXPECT_NEAR(program.forecast_s[0], program.time_s[0], 1e-9);
  // 300 s there instead of 200: all that is forecast of it comes to half as much again.
  EXPECT_NEAR(mix->programs[0].forecast_s[1], 2700, 1e-5);
  EXPECT_NEAR(mix->programs[0].lower_s[1] / plain->programs[0].lower_s[1], 1.5, 1e-9);
  EXPECT_NEAR(mix->programs[0].upper_s[1] / plain->programs[0].upper_s[1], 1.5, 1e-9);
}

TEST(ProgramMix, LeavesOutWhatLacksATimeOnThePlatforms) {
  TrainingTable table = one_odd_program();
  table.times[0].reset();          // program0 on Platform 0: of the cluster
  table.times[3 * 1 + 1].reset();  // program1 on Platform 1: of no matter
  const auto mix = make_program_mix(table, first_and_last(), by_mean());
  ASSERT_TRUE(mix) << to_text(mix.error());
  ASSERT_THAT(mix->programs, SizeIs(5));
  EXPECT_EQ(mix->programs[0].name, "program1");
  for (size_t p = 0; p < 6; ++p) table.times[3 * p + (p % 2 == 0 ? 0 : 2)].reset();
  const auto none = make_program_mix(table, first_and_last(), by_mean());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "empty-corpus");
  EXPECT_EQ(none.error().where, "folder/corpus.db");
}

TEST(ProgramMix, ErrorsNameTheFieldOfTheRequest) {
  ProgramMixRequest request = by_mean();
  request.measured_on = "Platform 1";  // of the table, not of the cluster
  const auto elsewhere = make_program_mix(one_odd_program(), first_and_last(), request);
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code, "unknown-platform");
  EXPECT_EQ(elsewhere.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(elsewhere.error().where, "measured_on");
  EXPECT_EQ(elsewhere.error().expected, "one of: Platform 0, p2");

  request = by_mean();
  request.model = "forrest";
  const auto no_model = make_program_mix(one_odd_program(), first_and_last(), request);
  ASSERT_FALSE(no_model);
  EXPECT_EQ(no_model.error().code, "unknown-model");
  EXPECT_EQ(no_model.error().kind, ErrorKind::kUsage);

  const auto columns = platforms_of_cluster(one_odd_program(), {{nodes("Platfrom 2", 1, 1)}, ""});
  ASSERT_FALSE(columns);
  EXPECT_EQ(columns.error().code, "missing-platform");
  EXPECT_EQ(columns.error().kind, ErrorKind::kData);
  EXPECT_THAT(columns.error().message, HasSubstr("'Platfrom 2'"));
  EXPECT_THAT(columns.error().expected, HasSubstr("Platform 2"));
  EXPECT_THAT(*platforms_of_cluster(one_odd_program(), first_and_last()), ElementsAre(0u, 2u));
}

}  // namespace
}  // namespace perfcast
