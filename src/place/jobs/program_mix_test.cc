#include "place/jobs/program_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fleet/testing/small_world.h"
#include "program/model/scaling/testing/scaling_world.h"
#include "program/model/test_world.h"

namespace perfcast::place {
namespace {

using program::testing_world::additive_world;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// Programs of six families on "Platform 0", "1" and "2". All take 9 times as long on the last, but program0, which
// takes 4 times as long there. So a model that never saw it says 9, whatever the folds, if it says what the others do.
program::TrainingTable one_odd_program() {
  program::TrainingTable table = additive_world({.programs = 6, .platforms = 3, .families = 6}).table;
  for (size_t p = 0; p < 6; ++p) {
    for (size_t j = 0; j < 3; ++j) table.times[3 * p + j]->log_time = j == 2 ? std::log(p == 0 ? 4 : 9) : 0;
  }
  return table;
}

fleet::Cluster first_and_last() { return {{fleet::nodes("Platform 0", 1, 4), fleet::nodes("p2", 1, 4)}, ""}; }

Result<fleet::ProgramMix> mix_of(const program::TrainingTable& table, const ProgramMixRequest& request) {
  fleet::Cluster cluster = first_and_last();
  const auto machines = find_machines(cluster, table.platforms, {}, "of the table");
  if (!machines) return machines.error();
  return make_program_mix(table, cluster, *machines, request);
}

ProgramMixRequest by_mean() {
  ProgramMixRequest request;
  request.corpus = "folder/corpus.db";
  request.model = "mean";
  request.cores = 3;
  return request;
}

TEST(ProgramMix, TimesAndForecastsOfEachProgramOnTheCluster) {
  const auto mix = mix_of(one_odd_program(), by_mean());
  ASSERT_TRUE(mix) << to_text(mix.error());
  EXPECT_THAT(mix->platforms, ElementsAre("Platform 0", "p2"));
  EXPECT_EQ(mix->source, "6 programs of corpus.db; forecasts by mean without the program's family");
  ASSERT_THAT(mix->programs, SizeIs(6));
  const fleet::MixProgram& odd = mix->programs[0];
  EXPECT_EQ(odd.name, "program0");
  EXPECT_EQ(odd.cores, 3);
  // 600 s on the geometric mean of both: 1/2 and 2, forecast as 1/3 and 3.
  ASSERT_THAT(odd.time_s, SizeIs(2));
  EXPECT_NEAR(odd.time_s[0], 300, 1e-9);
  EXPECT_NEAR(odd.time_s[1], 1200, 1e-9);
  EXPECT_NEAR(odd.forecast_s[0], 200, 1e-6);
  EXPECT_NEAR(odd.forecast_s[1], 1800, 1e-6);
  // The others are all alike, so that nothing speaks for an error; who has seen the odd one knows of errors.
  const fleet::MixProgram& usual = mix->programs[1];
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
  const auto plain = mix_of(one_odd_program(), by_mean());
  ProgramMixRequest request = by_mean();
  request.measured_on = "Platform 0";
  const auto mix = mix_of(one_odd_program(), request);
  ASSERT_TRUE(plain);
  ASSERT_TRUE(mix) << to_text(mix.error());
  for (const fleet::MixProgram& program : mix->programs) EXPECT_NEAR(program.forecast_s[0], program.time_s[0], 1e-9);
  // 300 s there instead of 200: all that is forecast of it comes to half as much again.
  EXPECT_NEAR(mix->programs[0].forecast_s[1], 2700, 1e-5);
  EXPECT_NEAR(mix->programs[0].lower_s[1] / plain->programs[0].lower_s[1], 1.5, 1e-9);
  EXPECT_NEAR(mix->programs[0].upper_s[1] / plain->programs[0].upper_s[1], 1.5, 1e-9);
}

TEST(ProgramMix, LeavesOutWhatLacksATimeOnThePlatforms) {
  program::TrainingTable table = one_odd_program();
  table.times[0].reset();          // program0 on Platform 0: of the cluster
  table.times[3 * 1 + 1].reset();  // program1 on Platform 1: of no matter
  const auto mix = mix_of(table, by_mean());
  ASSERT_TRUE(mix) << to_text(mix.error());
  ASSERT_THAT(mix->programs, SizeIs(5));
  EXPECT_EQ(mix->programs[0].name, "program1");
  for (size_t p = 0; p < 6; ++p) table.times[3 * p + (p % 2 == 0 ? 0 : 2)].reset();
  const auto none = mix_of(table, by_mean());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "empty-corpus");
  EXPECT_EQ(none.error().where, "folder/corpus.db");
}

TEST(ProgramMix, ErrorsNameTheFieldOfTheRequest) {
  ProgramMixRequest request = by_mean();
  request.measured_on = "Platform 1";  // of the table, not of the cluster
  const auto elsewhere = mix_of(one_odd_program(), request);
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code, "unknown-platform");
  EXPECT_EQ(elsewhere.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(elsewhere.error().where, "measured_on");
  EXPECT_EQ(elsewhere.error().expected, "one of: Platform 0, p2");

  request = by_mean();
  request.model = "forrest";
  const auto no_model = mix_of(one_odd_program(), request);
  ASSERT_FALSE(no_model);
  EXPECT_EQ(no_model.error().code, "unknown-model");
  EXPECT_EQ(no_model.error().kind, ErrorKind::kUsage);
}

// Twelve programs on servers whose copies slow each other by known costs, as a corpus has them.
class InstanceMix : public testing::Test {
 protected:
  InstanceMix() : scaling_(program::scaling_world::world(6, 0.02)) {
    table_.programs = scaling_.programs;
    table_.profiles = scaling_.profiles;
    for (const program::MachineFacts& machine : scaling_.machines) {
      program::Server server;
      server.vendor = machine.provider;
      server.name = machine.name;
      server.platform = machine.platform;
      server.vcpus = machine.vcpus;
      servers_.push_back(server);
      const auto same = [&](const Platform& platform) { return platform.id == machine.platform; };
      if (std::none_of(table_.platforms.begin(), table_.platforms.end(), same))
        table_.platforms.push_back(program::scaling_world::platform_of(machine.platform, "AMD", 25, 1));
    }
    for (Eigen::Index i = 0; i < scaling_.log_alone.rows(); ++i) {
      for (const Platform& platform : table_.platforms)
        table_.times.push_back(
            program::PlatformTime{.log_time = scaling_.log_alone(i, column("a", platform.id + "-8"))});
    }
  }
  Eigen::Index column(const std::string& provider, const std::string& name) const {
    const auto found = std::find_if(scaling_.machines.begin(), scaling_.machines.end(), [&](const auto& machine) {
      return machine.provider == provider && machine.name == name;
    });
    return found - scaling_.machines.begin();
  }
  Result<fleet::ProgramMix> mix(fleet::Cluster cluster) const {
    const auto machines = find_machines(cluster, table_.platforms, servers_, "of the world");
    if (!machines) return machines.error();
    ProgramMixRequest request = by_mean();
    request.servers = &servers_;
    request.scaling = &scaling_;
    return make_program_mix(table_, cluster, *machines, request);
  }

  program::ScalingTable scaling_;
  program::TrainingTable table_;
  std::vector<program::Server> servers_;
};

TEST_F(InstanceMix, TimesAreThoseAmongAsManyCopiesAsVcpus) {
  const auto made =
      mix({{fleet::instances("a milan-64"), fleet::instances("b/ice-8"), fleet::nodes("rome", 1, 8)}, ""});
  ASSERT_TRUE(made) << to_text(made.error());
  EXPECT_THAT(made->platforms, ElementsAre("a milan-64", "b/ice-8", "rome"));
  ASSERT_THAT(made->programs, SizeIs(12));
  EXPECT_THAT(made->notes, ElementsAre(HasSubstr("one on each vCPU")));
  for (size_t p = 0; p < 12; ++p) {
    const auto i = static_cast<Eigen::Index>(p);
    const fleet::MixProgram& program = made->programs[p];
    const double among_64 = scaling_.log_together(i, column("a", "milan-64"));
    const double among_8 = scaling_.log_together(i, column("b", "ice-8"));
    const double alone = scaling_.log_alone(i, column("a", "rome-8"));
    EXPECT_NEAR(std::log(program.time_s[0] / program.time_s[1]), among_64 - among_8, 1e-9);
    EXPECT_NEAR(std::log(program.time_s[0] / program.time_s[2]), among_64 - alone, 1e-9);
    EXPECT_GT(among_64 - alone, 0.1);  // so that a forecast of one core would miss it
    for (size_t g = 0; g < 3; ++g) {
      EXPECT_NEAR(program.forecast_s[g] / program.time_s[g], 1, 0.08);
      EXPECT_LE(program.lower_s[g], program.forecast_s[g]);
      EXPECT_GE(program.upper_s[g], program.forecast_s[g]);
    }
  }
}

TEST_F(InstanceMix, NeedsRunsOfAsManyCopies) {
  const auto half = mix({{fleet::nodes("a milan-64", 1, 32)}, ""});
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().code, "empty-corpus");
  scaling_.machines[static_cast<size_t>(column("a", "milan-64"))].name = "another";
  const auto unknown = mix({{fleet::instances("a milan-64")}, ""});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "missing-platform");
  EXPECT_THAT(unknown.error().message, HasSubstr("timed as many copies on a milan-64"));
}

TEST_F(InstanceMix, NeedsACorpusWithWholeMachines) {
  fleet::Cluster cluster = {{fleet::instances("a milan-64")}, ""};
  const auto machines = find_machines(cluster, table_.platforms, servers_, "of the world");
  ASSERT_TRUE(machines);
  EXPECT_EQ(make_program_mix(table_, cluster, *machines, by_mean()).error().code, "empty-corpus");
}

}  // namespace
}  // namespace perfcast::place
