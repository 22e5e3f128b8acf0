#include "program/model/cores/core_model_predictor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/tensors/tensor_map.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

Platform amd(const std::string& id, int64_t family, int64_t model, double max_hz) {
  Platform platform;
  platform.id = platform.name = id;
  platform.arch = "x86_64";
  platform.vendor = "AuthenticAMD";
  platform.cpu_family = family;
  platform.model = model;
  if (max_hz > 0) platform.facts["max_hz"] = max_hz;
  return platform;
}

TrainingTable three_platforms() {
  TrainingTable table = testing_world::additive_world({.programs = 4, .platforms = 3, .families = 2}).table;
  table.platforms = {amd("zen3", 25, 1, 4e9), amd("zen5", 26, 2, 2e9), amd("zen3 too", 25, 1, 0)};
  for (Profile& profile : table.profiles) {
    profile.instruction_set = "x86_64";
    profile.metrics["core_zen3_cycles_count"] = 4e9;
    profile.metrics["core_zen5_cycles_count"] = 1e9;
  }
  return table;
}

TEST(CoreModel, IsCyclesOverTheClockOfThePlatform) {
  const TrainingTable table = three_platforms();
  CoreModelPredictor cores(true), clock(false);
  ASSERT_TRUE(cores.fit(table, {}).ok());
  ASSERT_TRUE(clock.fit(table, {}).ok());
  const Eigen::MatrixXd by_cores = cores.predict({&table.profiles[0]}), by_clock = clock.predict({&table.profiles[0]});
  EXPECT_NEAR(by_cores(0, 0) - by_cores(0, 1), std::log(4.0 / 4 / (1.0 / 2)), 1e-12);
  EXPECT_NEAR(by_clock(0, 0) - by_clock(0, 1), std::log(2.0 / 4), 1e-12);
  EXPECT_NEAR(by_cores(0, 0), by_cores(0, 2), 1e-12);  // as others of its design
  EXPECT_NEAR(by_cores.sum(), 0, 1e-12);
}

TEST(CoreModel, IsTheSameAfterABundle) {
  const TrainingTable table = three_platforms();
  CoreModelPredictor cores(true), loaded(true);
  ASSERT_TRUE(cores.fit(table, {}).ok());
  TensorMap tensors;
  cores.save(tensors);
  ASSERT_TRUE(loaded.load(tensors).ok());
  EXPECT_EQ(loaded.predict({&table.profiles[1]}), cores.predict({&table.profiles[1]}));
  EXPECT_FALSE(loaded.load(TensorMap()).ok());
}

}  // namespace
}  // namespace perfcast::program
