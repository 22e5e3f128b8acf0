#include "measure/power/model/busy_machine.h"

#include <gmock/gmock.h>

#include <cmath>

#include "measure/power/testing/power_world.h"

namespace perfcast::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PowerModel model_of(const PowerTable& table) {
  PowerModelOptions options;
  options.forms = {PowerFormKind::kSharedLine};
  auto model = PowerModel::fit(table, all_rows(table), options);
  if (!model) throw std::runtime_error(to_text(model.error()));
  return std::move(*model);
}

TEST(BusyMachine, HasThePowerOfFullLoad) {
  PowerWorld world;
  world.machines = 2;
  const PowerModel model = model_of(world.table());
  ASSERT_EQ(model.settings().size(), 2U);
  EXPECT_EQ(model.settings()[1].machine, "machine 1");
  BusyMachine machine;
  machine.setting = model.settings()[1];
  machine.cpus = 16;
  for (const std::string& name : program_counters(model)) {
    machine.events_per_cpu_s[name] = name == "instructions" ? 1.2 * 4e10 / 16 : 4e6 / 16;
  }
  const auto power = busy_power(model, machine);
  ASSERT_TRUE(power) << to_text(power.error());
  // Idle 85 W, 20 W awake, 130 W of cycles at 1.2 instructions in each.
  EXPECT_NEAR(power->watts, 85 + 20 + 130 * (0.7 + 0.2 * 1.2), 12);
  EXPECT_NEAR(power->log_half_width, model.half_width(), 1e-12);
  machine.setting = model.settings()[0];
  EXPECT_LT(busy_power(model, machine)->watts, power->watts);
  machine.setting.machine = "machine 9";  // whose cycles nobody knows
  EXPECT_EQ(busy_power(model, machine).error().code, "missing-counters");
}

TEST(BusyMachine, NamesWhatTheProgramMustTell) {
  PowerWorld world;
  PowerModelOptions options;
  options.forms = {PowerFormKind::kSharedLine};
  options.sets = {ActivitySet::kCounters};
  const PowerTable table = world.table();
  const auto model = PowerModel::fit(table, all_rows(table), options);
  ASSERT_TRUE(model);
  EXPECT_THAT(program_counters(*model), ElementsAre("instructions", "misses"));
  const auto power = busy_power(*model, {model->settings()[0], 4, 0, {{"instructions", 1e9}}});
  EXPECT_THAT(power.error().message, HasSubstr("nothing tells misses"));
  // What no input is made of isn't asked for.
  options.sets = {ActivitySet::kLoad};
  const auto plain = PowerModel::fit(table, all_rows(table), options);
  ASSERT_TRUE(plain);
  EXPECT_THAT(program_counters(*plain), ElementsAre("instructions"));
}

TEST(BusyMachine, TakesTheClockOfTheSetting) {
  PowerWorld world;
  PowerTable table = world.table();
  const auto rows = static_cast<Eigen::Index>(table.rows());
  table.frequency_hz.resize(rows);
  table.cores = Eigen::VectorXd::Constant(rows, 4);
  for (Eigen::Index r = 0; r < rows; ++r) {
    table.frequency_hz(r) = r % 2 == 0 ? 1e9 : 2e9;
    if (r % 2 == 0) table.watts(r) *= 0.6;
  }
  number_runs(table);
  const PowerModel model = model_of(table);
  ASSERT_EQ(model.settings().size(), 2U);
  double watts[2] = {};
  for (const PowerSetting& setting : model.settings()) {
    ASSERT_TRUE(setting.frequency_hz && setting.cores);
    BusyMachine machine = {setting, *setting.cores, 0, {}};
    for (const std::string& name : program_counters(model))
      machine.events_per_cpu_s[name] = *setting.frequency_hz * (name == "instructions" ? 1 : 1e-3);
    const auto power = busy_power(model, machine);
    ASSERT_TRUE(power) << to_text(power.error());
    watts[*setting.frequency_hz > 1.5e9 ? 1 : 0] = power->watts;
  }
  EXPECT_LT(watts[0], watts[1]);
}

TEST(BusyMachine, SaysWhereItLiesBeyondTheSamples) {
  const PowerTable table = PowerWorld().table();
  const auto model = PowerModel::fit(table, all_rows(table), {});
  ASSERT_TRUE(model);
  BusyMachine machine;
  machine.setting.machine = "machine 0";
  machine.cpus = 8;
  const auto with_instructions = [&](double per_cpu_s) {
    for (const std::string& name : program_counters(*model))
      machine.events_per_cpu_s[name] = name == "misses" ? 3e5 : per_cpu_s;
    const auto power = busy_power(*model, machine);
    EXPECT_TRUE(power);
    return power ? *power : BusyPower{};
  };
  EXPECT_FALSE(with_instructions(5e9).is_held);
  EXPECT_TRUE(with_instructions(5e11).is_held);
}

}  // namespace
}  // namespace perfcast::measure
