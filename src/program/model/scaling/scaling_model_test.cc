#include "program/model/scaling/scaling_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/unknown.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/scaling/testing/scaling_world.h"

namespace perfcast::program {
namespace {

using scaling_world::platform_of;
using scaling_world::profile_of;
using scaling_world::server_of;
using scaling_world::world;

constexpr double kKib = 1024;

TEST(Scaling, MissesAreLinearInTheLogarithmOfTheSize) {
  MetricValues metrics = profile_of(1000, 100, 0).metrics;
  const MissCurve reads(metrics, {""}, 2);
  EXPECT_DOUBLE_EQ(reads(1), 500);
  EXPECT_DOUBLE_EQ(reads(512 * kKib), 500);
  EXPECT_NEAR(reads(512 * kKib * std::sqrt(2)), 275, 1e-9);
  EXPECT_DOUBLE_EQ(reads(1024 * kKib), 50);
  EXPECT_DOUBLE_EQ(reads(1e12), 50);
  EXPECT_DOUBLE_EQ(MissCurve(metrics, {"store_sequential_", "store_random_"}, 1)(64 * kKib), 200);
  metrics.erase("miss_4m_count");
  EXPECT_TRUE(std::isnan(MissCurve(metrics, {""}, 1)(3e6)));
}

TEST(Scaling, ALoadWithoutACounterIsUnknown) {
  Profile profile = profile_of(1000, 100, 0.25);
  const ProgramLoad load = load_of(profile, 4);
  EXPECT_TRUE(is_known(load));
  EXPECT_DOUBLE_EQ(load.instructions, 2.5e8);
  EXPECT_DOUBLE_EQ(load.float_ratio, 0.25);
  EXPECT_DOUBLE_EQ(load.kernel_ratio, 0.05);
  EXPECT_DOUBLE_EQ(load.page_faults, 125);
  profile.metrics.erase("op_x87_mul_count");
  EXPECT_FALSE(is_known(load_of(profile, 4)));
}

TEST(Scaling, MachinesFillInWhatTheyDontSayByTheirDesign) {
  const std::vector<Platform> platforms = {platform_of("milan", "AMD", 25, 1), platform_of("rome", "AMD", 23, 0x31)};
  std::vector<Server> servers = {server_of("a", "s", "milan", 8, 2),  server_of("a", "m", "milan", 4, 2),
                                 server_of("a", "l", "milan", 4, 1),  server_of("a", "none", "naples", 4, 1),
                                 server_of("ovh", "x", "rome", 4, 2), server_of("a", "y", "rome", 4, 2)};
  servers[0].facts = {{"l3_bytes", 32e6}, {"memory_read_bytes_per_s", 80e9}, {"l3_instances_count", 2}};
  servers[1].facts = {{"l3_bytes", 16e6}, {"memory_read_bytes_per_s", 20e9}};
  servers[5].vcpus.reset();
  const MachineList list = machines_of(servers, platforms);
  ASSERT_EQ(list.machines.size(), 4u);  // one of no known platform, one of no size
  EXPECT_THAT(list.servers_index, testing::ElementsAre(0, 1, 2, 4));
  const MachineFacts& first = list.machines[0];
  EXPECT_EQ(first.design, "zen3");
  EXPECT_EQ(first.make, MachineFacts::Make::kAmd);
  EXPECT_EQ(first.cores, 4);
  EXPECT_TRUE(first.siblings);
  EXPECT_EQ(first.l3_instances_count, 2);
  EXPECT_TRUE(first.memory_read_known);
  const MachineFacts& third = list.machines[2];
  EXPECT_FALSE(third.siblings);
  EXPECT_EQ(third.l3_bytes, 24e6);                      // the median of its design
  EXPECT_EQ(third.memory_read_bytes_per_s, 4 * 7.5e9);  // of 10 and 5 a vCPU
  EXPECT_FALSE(third.memory_read_known);
  EXPECT_TRUE(list.machines[3].floats);
  EXPECT_FALSE(list.machines[3].siblings);  // what it says of threads says nothing
  EXPECT_EQ(list.machines[3].l3_bytes, 24e6);
  EXPECT_NE(machine_class(first), machine_class(third));
}

TEST(Scaling, CopiesShareCoresOnlyWhereThereAreMoreThanCores) {
  MachineFacts machine;
  machine.vcpus = 8;
  machine.cores = 4;
  machine.siblings = true;
  const auto sharing = [&](double copies) { return CopiesOnMachine{nullptr, &machine, 1, copies}.sharing(); };
  EXPECT_EQ(sharing(1), 0);
  EXPECT_EQ(sharing(4), 0);
  EXPECT_NEAR(sharing(6), 2.0 / 3, 1e-12);
  EXPECT_EQ(sharing(8), 1);
  machine.siblings = false;
  EXPECT_EQ(sharing(8), 0);
}

double mean_error(const ScalingFit& fit, const LeftOutForecast& forecast) {
  double sum = 0, count = 0;
  for (Eigen::Index i = 0; i < forecast.log_slowdown.rows(); ++i) {
    for (Eigen::Index s = 0; s < forecast.log_slowdown.cols(); ++s) {
      if (std::isnan(forecast.log_slowdown(i, s))) continue;
      sum += std::abs(forecast.log_slowdown(i, s) - fit.log_slowdown()(i, s));
      ++count;
    }
  }
  EXPECT_GT(count, 0);
  return sum / count;
}

TEST(Scaling, ForecastsAFamilyThatItNeverSaw) {
  const ScalingFit fit(world(8, 0));
  EXPECT_TRUE(fit.faulty().empty());
  EXPECT_LT(mean_error(fit, forecast_without_family(fit, "f3")), 0.01);
  EXPECT_LT(mean_error(fit, forecast_without_family_and_platforms(fit, "f3")), 0.03);
}

// What physics leaves of a family's programs is all of one sign here: others can't tell, the intervals know.
TEST(Scaling, IntervalsHoldWhatPhysicsLeaves) {
  const ScalingFit fit(world(20, 0.1));
  ScalingModel model;
  ASSERT_TRUE(model.fit(fit, 0.9));
  double inside = 0, count = 0;
  for (int family = 0; family < 20; ++family) {
    const std::string name = "f" + std::to_string(family);
    const LeftOutForecast forecast = forecast_without_family(fit, name);
    const ScalingErrors errors = errors_of(fit, forecast, true);
    const ScalingIntervals intervals = fit_intervals(fit, errors, 0.9);
    for (Eigen::Index i = 0; i < errors.log_error.rows(); ++i) {
      for (Eigen::Index s = 0; s < errors.log_error.cols(); ++s) {
        if (std::isnan(errors.log_error(i, s))) continue;
        inside += std::abs(errors.log_error(i, s)) <=
                          intervals.half_width(errors.features[static_cast<size_t>(i)].row(s).transpose())
                      ? 1
                      : 0;
        ++count;
      }
    }
  }
  EXPECT_NEAR(inside / count, 0.9, 0.06);
}

TEST(Scaling, LeavesOutServersThatAreFaulty) {
  ScalingTable table = world(8, 0.05);
  table.log_together.col(7).array() += std::log(3);
  const ScalingFit fit(table);
  EXPECT_THAT(fit.faulty(), testing::ElementsAre(table.machines[7].provider + "/" + table.machines[7].name));
  EXPECT_FALSE(fit.is_measured(0, 7));
  EXPECT_TRUE(fit.is_measured(0, 6));
}

TEST(Scaling, OneCopyIsAloneAndMoreAreSlower) {
  const ScalingFit fit(world(8, 0.02));
  ScalingModel model;
  ASSERT_TRUE(model.fit(fit, 0.9));
  const auto& machines = fit.table().machines;
  const auto time_s = [](const std::string&) { return 0.33; };
  const ProgramKey key = model.key_of(fit.table().loads[0], machines, time_s);
  for (const MachineFacts& machine : machines) {
    const auto slowdown = [&](double copies) {
      return model.forecast(key, {&fit.table().loads[0], &machine, 0.33, copies}).log_slowdown;
    };
    EXPECT_NEAR(slowdown(1), 0, 1e-9);
    EXPECT_GE(slowdown(machine.vcpus), slowdown(2) - 0.02);
    EXPECT_TRUE(model.knows(machine));
  }
}

// A server that is slower for all programs than its class is forecast so for another program, and others hardly change.
TEST(Scaling, ServersHaveTheirOwn) {
  constexpr Eigen::Index kSlow = 9;
  ScalingTable table = world(12, 0.02);
  const ScalingFit usual(table);
  table.log_together.col(kSlow).array() += std::log(1.2);
  const ScalingFit slowed(table);
  ScalingModel usual_model, slowed_model;
  ASSERT_TRUE(usual_model.fit(usual, 0.9));
  ASSERT_TRUE(slowed_model.fit(slowed, 0.9));
  const auto time_s = [](const std::string&) { return 0.33; };
  ProgramLoad load = table.loads[0];
  load.float_ratio += 0.01;
  double others = 0;
  for (size_t s = 0; s < table.machines.size(); ++s) {
    const MachineFacts& machine = table.machines[s];
    const auto slowdown = [&](const ScalingModel& model) {
      return model.forecast(model.key_of(load, table.machines, time_s), {&load, &machine, 0.33, machine.vcpus})
          .log_slowdown;
    };
    const double by = (slowdown(slowed_model) - slowdown(usual_model)) / std::log(1.2);
    if (static_cast<Eigen::Index>(s) != kSlow) {
      others = std::max(others, std::abs(by));
      continue;
    }
    EXPECT_GT(by, 0.4);  // it is of no group, and less sure
    EXPECT_LT(by, 1.1);
  }
  EXPECT_LT(others, 0.3);
  const double left_out = forecast_without_family(slowed, "f3").log_slowdown(6, kSlow) -
                          forecast_without_family(usual, "f3").log_slowdown(6, kSlow);
  EXPECT_GT(left_out / std::log(1.2), 0.6);
}

TEST(Scaling, ComesBackFromABundle) {
  const ScalingFit fit(world(6, 0.05));
  ScalingModel model, back;
  ASSERT_TRUE(model.fit(fit, 0.9));
  TensorMap tensors;
  model.save(tensors);
  ASSERT_TRUE(back.load(tensors));
  const MachineFacts& machine = fit.table().machines[5];
  const CopiesOnMachine copies = {&fit.table().loads[2], &machine, 0.3, 16};
  const auto time_s = [](const std::string&) { return 0.3; };
  const CopiesForecast a = model.forecast(model.key_of(fit.table().loads[2], fit.table().machines, time_s), copies);
  const CopiesForecast b = back.forecast(back.key_of(fit.table().loads[2], fit.table().machines, time_s), copies);
  EXPECT_NEAR(a.log_slowdown, b.log_slowdown, 1e-5);  // weights are kept as floats
  EXPECT_NEAR(a.half_width, b.half_width, 1e-5);
  EXPECT_GT(a.half_width, 0);
  TensorMap wrong = tensors;
  wrong.put_texts("servers", {"one"});  // not as many as numbers
  EXPECT_EQ(ScalingModel().load(wrong).error().code, "bad-bundle");
  wrong.put_bytes("servers", "one");  // no length before it
  EXPECT_EQ(ScalingModel().load(wrong).error().code, "bad-bundle");
  tensors.put_json("programs", Json::array({1}));
  EXPECT_EQ(back.load(tensors).error().code, "bad-bundle");
  EXPECT_FALSE(ScalingModel().load(TensorMap()));
}

// Bundles had names of classes and servers in their JSON.
TEST(Scaling, NamesInJsonAreRead) {
  const ScalingFit fit(world(4, 0.05));
  ScalingModel model, back;
  ASSERT_TRUE(model.fit(fit, 0.9));
  TensorMap tensors;
  model.save(tensors);
  for (const char* name : {"classes", "servers"}) tensors.put_json(name, Json(*tensors.get_texts(name)));
  ASSERT_TRUE(back.load(tensors));
  const MachineFacts& machine = fit.table().machines[5];
  EXPECT_TRUE(back.knows(machine));
  const CopiesOnMachine copies = {&fit.table().loads[2], &machine, 0.3, 16};
  EXPECT_NEAR(model.forecast(fit.keys()[0], copies).log_slowdown, back.forecast(fit.keys()[0], copies).log_slowdown,
              1e-5);
  tensors.put_json("classes", Json::array({1}));
  EXPECT_EQ(ScalingModel().load(tensors).error().code, "bad-bundle");
  tensors.put_json("classes", Json::object());
  EXPECT_EQ(ScalingModel().load(tensors).error().code, "bad-bundle");
}

TEST(Scaling, TablesAreOfProgramsTimedBothWays) {
  Corpus corpus;
  corpus.platforms = {platform_of("milan", "AMD", 25, 1)};
  corpus.servers = {server_of("a", "s", "milan", 4, 2), server_of("a", "m", "milan", 4, 2)};
  for (const char* id : {"stressng.cpu", "stressng.fork", "compress.gzip.9.d", "stressng.null"}) {
    Program program;
    program.id = program.family = id;
    program.group = std::string(id).starts_with("compress") ? "compressor"
                    : std::string(id) == "stressng.cpu"     ? "user"
                                                            : "os";
    corpus.programs.push_back(program);
    StoredProfile stored;
    stored.program = id;
    stored.profile = profile_of(1000, 10, 0.1);
    stored.profile.work_units = 10;
    corpus.profiles.push_back(stored);
    corpus.runs.push_back({id, "milan", "a/s", 1, 0.5, std::nullopt, ""});
    corpus.runs.push_back({id, "milan", "a/m", 1, 0.4, std::nullopt, ""});
    corpus.machine_runs.push_back({id, "milan", "a/s", 4, 0.8, ""});
  }
  const auto table = make_scaling_table(corpus);
  ASSERT_TRUE(table) << to_text(table.error());
  EXPECT_EQ(table->programs.size(), 3u);  // fork lives in the kernel
  EXPECT_THAT(table->groups, testing::ElementsAre("user", "decompress", "light system use"));
  ASSERT_EQ(table->machines.size(), 1u);
  EXPECT_EQ(table->all_machines.size(), 2u);
  EXPECT_NEAR(table->log_together(0, 0), std::log(0.8), 1e-12);
  EXPECT_NEAR(table->log_alone(0, 0), std::log(0.5), 1e-12);
  EXPECT_EQ(table->copies(0, 0), 4);
  corpus.machine_runs.clear();
  EXPECT_EQ(make_scaling_table(corpus).error().code, "empty-corpus");
}

}  // namespace
}  // namespace perfcast::program
