#include "measure/phases/phase_forecast.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "measure/phases/phase_costs.h"

namespace perfcast::measure {
namespace {

// Phases whose time is 0.3 ns an instruction, 5 ns a branch miss and 60 ns a line from memory.
Profile profile_of(const std::string& name, uint64_t seed) {
  Random random(seed);
  Profile profile;
  profile.program = name;
  profile.command = {name};
  PhaseSet set;
  double first = 0;
  for (size_t k = 0; k < 3; ++k) {
    const double instructions = 1e9, misses = 1e7 * random.uniform(), lines = 2e6 * random.uniform();
    const MetricValues metrics = {{"instructions_count", instructions},
                                  {"tage_misses_count", misses},
                                  {"miss_32k_count", lines},
                                  {"miss_1m_count", lines},
                                  {"miss_32m_count", lines},
                                  {"miss_32m_random_count", lines}};
    const double cpu_s = 0.3e-9 * instructions + 5e-9 * misses + 60e-9 * lines;
    PhaseKind& kind = set.kinds.emplace_back();
    kind.instructions_count = instructions;
    kind.native_cpu_s = cpu_s;
    kind.native_deviation_s = 0.01 * cpu_s;
    kind.representative_phase = k;
    kind.metrics = metrics;
    ProfilePhase& phase = profile.phases.emplace_back();
    phase.first_instruction_count = first;
    phase.instructions_count = instructions;
    phase.kind = k;
    phase.native_cpu_s = cpu_s;
    phase.metrics = {{"instructions_count", instructions}};
    first += instructions;
  }
  set.transitions.assign(3, std::vector<double>(3, 0));
  profile.phase_kinds = set;
  return profile;
}

std::vector<Profile> programs() {
  std::vector<Profile> profiles;
  for (uint64_t i = 0; i < 12; ++i) profiles.push_back(profile_of("p" + std::to_string(i), i + 1));
  return profiles;
}

TEST(PhaseForecast, LearnsWhatTakesTime) {
  const std::vector<Profile> others = programs();
  const Profile unseen = profile_of("unseen", 99);
  const auto forecast = forecast_phases(unseen, others);
  ASSERT_TRUE(forecast) << to_text(forecast.error());
  EXPECT_EQ(forecast->programs, 12U);
  for (size_t k = 0; k < 3; ++k) {
    ASSERT_TRUE(forecast->kind_s[k]);
    EXPECT_NEAR(*forecast->kind_s[k] / *unseen.phase_kinds->kinds[k].native_cpu_s, 1, 0.03);
    EXPECT_NEAR(*forecast->slice_s[k], *forecast->kind_s[k], 1e-9);
  }
}

TEST(PhaseForecast, TellsItsErrorOnProgramsLeftOutAndWhatItCouldNotLearnFrom) {
  std::vector<Profile> others = programs();
  Profile untimed = profile_of("untimed", 50);
  for (PhaseKind& kind : untimed.phase_kinds->kinds) kind.native_cpu_s.reset();
  others.push_back(untimed);
  others.push_back(Profile());
  others.back().program = "bare";
  const auto forecast = forecast_phases(profile_of("unseen", 99), others);
  ASSERT_TRUE(forecast) << to_text(forecast.error());
  EXPECT_EQ(forecast->skipped, (std::vector<std::string>{"untimed", "bare"}));
  ASSERT_EQ(forecast->left_out_errors.size(), 12U);
  for (const double error : forecast->left_out_errors) EXPECT_LT(error, 0.1);
}

TEST(PhaseForecast, ItsIntervalHoldsPhasesOfAProgramThatItNeverSaw) {
  const std::vector<Profile> others = programs();
  const auto few = forecast_phases(profile_of("unseen", 99), {others.begin(), others.begin() + 5});
  ASSERT_TRUE(few);
  EXPECT_FALSE(few->half_width_log);
  size_t held = 0, all = 0;
  for (uint64_t seed = 100; seed < 110; ++seed) {
    const Profile unseen = profile_of("unseen", seed);
    const auto forecast = forecast_phases(unseen, others);
    ASSERT_TRUE(forecast && forecast->half_width_log);
    for (size_t k = 0; k < 3; ++k, ++all) {
      held += std::abs(std::log(*forecast->kind_s[k] / *unseen.phase_kinds->kinds[k].native_cpu_s)) <=
              *forecast->half_width_log;
    }
  }
  EXPECT_GE(held, all * 8 / 10);
}

// With three programs none is left to choose settings by once one is out, and one more is scored.
TEST(PhaseForecast, ThreeProgramsAreTheLeast) {
  const std::vector<Profile> others = programs();
  EXPECT_TRUE(forecast_phases(profile_of("unseen", 99), {others.begin(), others.begin() + 3}));
  EXPECT_EQ(forecast_phases(profile_of("unseen", 99), {others.begin(), others.begin() + 2}).error().code,
            "too-few-phases");
  const auto scores = score_phases({others.begin(), others.begin() + 3}, 1);
  ASSERT_FALSE(scores);
  EXPECT_NE(scores.error().message.find("3 programs"), std::string::npos);
}

TEST(PhaseForecast, TimesOfTwoMachinesAreTold) {
  std::vector<Profile> others = programs();
  for (Profile& profile : others) profile.host.name = "one";
  EXPECT_EQ(forecast_phases(profile_of("unseen", 99), others)->machines, std::vector<std::string>{"one"});
  others[3].host.name = "another";
  EXPECT_EQ(forecast_phases(profile_of("unseen", 99), others)->machines, (std::vector<std::string>{"one", "another"}));
}

// A counter that a profile lacks is not a phase without such events: nothing is learnt of it.
TEST(PhaseForecast, WhatWasNotCountedIsNotZero) {
  MetricValues metrics = profile_of("a", 1).phase_kinds->kinds[0].metrics;
  const auto without = phase_costs(metrics);
  metrics["tlb_miss_count"] = 0;
  metrics["stlb_1536_miss_count"] = 0;
  const auto with = phase_costs(metrics);
  ASSERT_TRUE(without && with);
  size_t known_more = 0;
  for (Eigen::Index k = 0; k < with->size(); ++k) {
    known_more += std::isnan((*without)(k)) && (*with)(k) == 0;
    if (std::isfinite((*without)(k))) {
      EXPECT_EQ((*without)(k), (*with)(k));
    }
  }
  EXPECT_EQ(known_more, 2U);
  metrics.erase("miss_32m_count");
  EXPECT_FALSE(phase_costs(metrics));
}

TEST(PhaseForecast, ScoresWithTheProgramLeftOut) {
  std::vector<Profile> profiles = programs();
  profiles.push_back(Profile());
  const auto scores = score_phases(profiles, 1);
  ASSERT_TRUE(scores) << to_text(scores.error());
  EXPECT_EQ(scores->programs, 12U);
  EXPECT_EQ(scores->without_times, 1U);
  EXPECT_EQ(scores->phases.size(), 36U);
  EXPECT_LT(phase_errors(*scores, &PhaseScore::forecast_s).phase, 0.03);
  EXPECT_GT(phase_errors(*scores, &PhaseScore::mean_s).phase, 0.05);
  EXPECT_NEAR(noise_of(*scores).value_or(0), 0.01, 1e-9);
}

// Cycles of a model that some have and some have not don't matter.
TEST(PhaseForecast, BearsWhatIsKnownOfSome) {
  std::vector<Profile> others = programs();
  others[3].phase_kinds->kinds[0].metrics["core_zen3_cycles_count"] = 5e9;
  Profile unseen = profile_of("unseen", 99);
  unseen.phase_kinds->kinds[0].metrics["core_zen3_cycles_count"] = 9e9;
  const auto forecast = forecast_phases(unseen, others);
  ASSERT_TRUE(forecast);
  EXPECT_NEAR(*forecast->kind_s[0] / *unseen.phase_kinds->kinds[0].native_cpu_s, 1, 0.03);
}

TEST(PhaseForecast, NeedsPhasesOfSeveralOthers) {
  const Profile one = profile_of("a", 1);
  const auto same = forecast_phases(one, {one, one, one});
  ASSERT_FALSE(same);
  EXPECT_EQ(same.error().code, "too-few-phases");
  EXPECT_EQ(forecast_phases(Profile(), programs()).error().code, "no-phases");
}

}  // namespace
}  // namespace perfcast::measure
