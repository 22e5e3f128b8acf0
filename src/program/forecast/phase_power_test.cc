#include "program/forecast/phase_power.h"

#include <gmock/gmock.h>

#include "measure/power/testing/power_world.h"

namespace perfcast::program {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ProgramPowerModel world_model(measure::ActivitySet set = measure::ActivitySet::kLoad) {
  const measure::PowerTable table = measure::PowerWorld().table();
  measure::PowerModelOptions options;
  options.forms = {measure::PowerFormKind::kSharedLine};
  options.sets = {set};
  auto model = measure::PowerModel::fit(table, measure::all_rows(table), options);
  if (!model) throw std::runtime_error(to_text(model.error()));
  ProgramPowerModel given;
  given.source = "m.json";
  given.model = std::move(*model);
  given.cpus = 8;
  return given;
}

// Two phases with 0.6 and 1.5 instructions in each of the machine's 5e9 cycles a second of a CPU; 2 s and 4 s.
Profile with_two_phases() {
  Profile profile;
  profile.program = "p";
  profile.host.arch = "x86_64";
  profile.metrics = {{"user_s", 6}, {"system_s", 0}};
  PhaseSet set;
  set.kinds.resize(2);
  set.kinds[0].instructions_count = 0.6 * 5e9 * 2;
  set.kinds[1].instructions_count = 1.5 * 5e9 * 4;
  set.kinds[0].native_cpu_s = 2;
  set.kinds[1].native_cpu_s = 4;
  profile.phase_kinds = set;
  return profile;
}

TEST(PhasePower, IsThatOfAMachineFullOfThePhase) {
  const auto powers = phase_powers(world_model(), with_two_phases(), {});
  ASSERT_TRUE(powers) << to_text(powers.error());
  ASSERT_THAT(powers->kinds, SizeIs(2));
  ASSERT_TRUE(powers->kinds[0] && powers->kinds[1]);
  EXPECT_NEAR(powers->kinds[0]->machine_w, 60 + 20 + 100 * (0.7 + 0.2 * 0.6), 12);
  EXPECT_NEAR(powers->kinds[1]->machine_w, 60 + 20 + 100 * (0.7 + 0.2 * 1.5), 12);
  EXPECT_EQ(powers->kinds[1]->core_w, powers->kinds[1]->machine_w / 8);
  EXPECT_NEAR(powers->kinds[1]->energy_joules, powers->kinds[1]->core_w * 4, 1e-9);
  EXPECT_GT(powers->kinds[0]->log_half_width, 0);
  EXPECT_EQ(powers->machine, "machine 0");
  EXPECT_EQ(powers->cpus, 8);
  EXPECT_THAT(powers->notes, IsEmpty());
}

TEST(PhasePower, TakesTheForecastTimeWhereThereIsOne) {
  const Profile profile = with_two_phases();
  const auto native = phase_powers(world_model(), profile, {});
  const auto slower = phase_powers(world_model(), profile, {4, std::nullopt});
  ASSERT_TRUE(native && slower);
  EXPECT_EQ(slower->kinds[0]->time_s, 4);
  EXPECT_LT(slower->kinds[0]->machine_w, native->kinds[0]->machine_w);  // fewer instructions in each cycle
  EXPECT_EQ(slower->kinds[1]->time_s, 4);
  EXPECT_EQ(slower->kinds[1]->machine_w, native->kinds[1]->machine_w);
}

TEST(PhasePower, IsAbsentWhereNothingTells) {
  Profile profile = with_two_phases();
  profile.phase_kinds->kinds[0].native_cpu_s.reset();
  const auto powers = phase_powers(world_model(), profile, {});
  ASSERT_TRUE(powers);
  EXPECT_FALSE(powers->kinds[0]);
  EXPECT_TRUE(powers->kinds[1]);
  EXPECT_THAT(powers->notes, Contains(HasSubstr("1 of 2 phases has no power by m.json: the time isn't known")));
  const auto misses = phase_powers(world_model(measure::ActivitySet::kCounters), profile, {});
  ASSERT_TRUE(misses);
  EXPECT_FALSE(misses->kinds[1]);
  EXPECT_THAT(misses->notes, Contains(HasSubstr("the profile doesn't tell misses")));
}

TEST(PhasePower, AsksHowManyCpusFillTheMachine) {
  ProgramPowerModel model = world_model();
  model.cpus.reset();
  const auto refused = phase_powers(model, with_two_phases(), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("how many CPUs make a load of 100%"));
}

}  // namespace
}  // namespace perfcast::program
