#include "measure/phases/report/phase_report.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/json.h"
#include "measure/phases/report/phase_page.h"

namespace perfcast::measure {
namespace {

using testing::HasSubstr;
using testing::Not;

Profile two_phases() {
  Profile profile;
  profile.program = "<prog>";
  profile.command = {"<prog>", "&"};
  PhaseSet set;
  set.kinds.resize(2);
  set.kinds[0].instructions_count = 3e9;
  set.kinds[0].visits_count = 2;
  set.kinds[0].native_cpu_s = 0.9;
  set.kinds[0].metrics = {{"instructions_count", 3e9}, {"fp_double_count", 1e9}};
  set.kinds[0].functions = {{"longest_match(deflate_state*)", "gzip", 0.81}, {"", "libz.so.1", 0.12}};
  set.kinds[1].instructions_count = 1e9;
  set.kinds[1].visits_count = 1;
  set.kinds[1].representative_phase = 1;
  set.kinds[1].metrics = {{"instructions_count", 1e9}};
  set.transitions = {{3, 1}, {1, 0}};
  for (size_t i = 0; i < 4; ++i) {
    ProfilePhase& phase = profile.phases.emplace_back();
    phase.first_instruction_count = 1e9 * static_cast<double>(i);
    phase.instructions_count = 1e9;
    phase.kind = i == 1 ? 1 : 0;
    if (i != 1) phase.native_cpu_s = 0.3;
  }
  profile.phase_kinds = set;
  return profile;
}

PhaseForecast forecast_of_two() {
  PhaseForecast forecast;
  forecast.kind_s = {1.2, std::nullopt};
  forecast.slice_s = {0.4, std::nullopt, 0.4, 0.4};
  forecast.programs = 5;
  return forecast;
}

TEST(PhaseReport, SaysWhatIsKnown) {
  const std::string text = phases_text(two_phases(), forecast_of_two());
  EXPECT_THAT(text, HasSubstr("<prog>: 2 phases, 4 G instructions, 900 ms of CPU time; forecast 1.2 s (+33%)\n\n"));
  EXPECT_THAT(text, HasSubstr("floats"));
  EXPECT_THAT(text, HasSubstr("longest_match 81%, in libz.so.1 12%"));
  EXPECT_THAT(text, HasSubstr("warning: 5 programs are few to learn from"));
  PhaseForecast scored = forecast_of_two();
  scored.programs = 40;
  scored.left_out_errors = {0.1, 0.5};
  scored.skipped = {"a.out"};
  const std::string told = phases_text(two_phases(), scored);
  EXPECT_THAT(told, HasSubstr("left out in turn, it is off by 30% on average, 50% at most"));
  EXPECT_THAT(told, HasSubstr("1 of the profiles after --learn has no native times of phases and was not learnt from: "
                              "a.out"));
  EXPECT_THAT(told, Not(HasSubstr("are few")));
  EXPECT_EQ(phases_json(two_phases(), scored)["left_out_worst_error_ratio"], 0.5);
  const std::string bare = phases_text(two_phases(), std::nullopt);
  EXPECT_THAT(bare, Not(HasSubstr("forecast")));
}

// A letter for each piece of equal time: the first phase takes three times as long for the same instructions.
TEST(PhaseReport, DrawsTheRunAsLetters) {
  Profile profile = two_phases();
  for (size_t i = 0; i < 4; ++i) {
    profile.phases[i].kind = i < 2 ? 0 : 1;
    profile.phases[i].native_cpu_s = i < 2 ? 0.3 : 0.1;
  }
  EXPECT_THAT(
      phases_text(profile, std::nullopt, std::nullopt, 80),
      HasSubstr("\n" + std::string(60, 'A') + std::string(20, 'B') + "\nfrom start to end; a letter is 10 ms of"));
  profile.phase_kinds->kinds[1].native_cpu_s = 0.3;
  const std::string text = phases_text(profile, std::nullopt, std::nullopt, 80);
  EXPECT_THAT(text, HasSubstr("most time: phase A, 75%, 81% of it in longest_match\n"));
  profile.phases[3].native_cpu_s.reset();  // by instructions, as not all times are known
  EXPECT_THAT(
      phases_text(profile, std::nullopt, std::nullopt, 80),
      HasSubstr("\n" + std::string(40, 'A') + std::string(40, 'B') + "\nfrom start to end; a letter is 50 M i"));
}

TEST(PhaseReport, SaysWhatIsDoubtful) {
  Profile profile = two_phases();
  EXPECT_TRUE(phases_json(profile, std::nullopt)["warnings"].empty());
  profile.warnings = {{"phases-differ", "native times are rough", ""}, {"multiplexed", "of no matter here", ""}};
  profile.phase_kinds->kinds[0].native_cpu_s = 0.03;  // of 3 G instructions
  const std::string text = phases_text(profile, std::nullopt);
  EXPECT_THAT(text, HasSubstr("0.010!"));
  EXPECT_THAT(text, HasSubstr("warning: native times are rough\nwarning: times marked ! are shorter than any core"));
  EXPECT_THAT(text, Not(HasSubstr("of no matter")));
  const Json json = phases_json(profile, std::nullopt);
  EXPECT_EQ(json["warnings"].size(), 2U);
  EXPECT_EQ(json["phases"][0]["native_is_impossible"], true);
  EXPECT_FALSE(json["phases"][1].contains("native_is_impossible"));
}

TEST(PhaseReport, JsonLeavesOutWhatIsMissing) {
  const Json json = phases_json(two_phases(), forecast_of_two());
  EXPECT_EQ(json["schema"], kPhasesSchema);
  EXPECT_EQ(json["phases"][0]["forecast_cpu_s"], 1.2);
  EXPECT_FALSE(json["phases"][1].contains("native_cpu_s"));
  EXPECT_FALSE(json["phases"][1].contains("forecast_cpu_s"));
  EXPECT_EQ(json["slices"][1]["phase"], "B");
  EXPECT_EQ(json["phases"][0]["functions"][1]["file"], "libz.so.1");
  EXPECT_FALSE(json["phases"][0]["functions"][1].contains("function"));
  EXPECT_FALSE(json["phases"][1].contains("functions"));
}

TEST(PhaseReport, HasWattsAndJoulesWhereTheyAreKnown) {
  PhasePowers power;
  power.kinds = {PhasePower{160, 20, 1.2, 24, std::log(1.1)}, std::nullopt};
  power.source = "m.json";
  power.machine = "server 3";
  power.cpus = 8;
  power.notes = {"1 of 2 phases has no power by m.json: the profile doesn't tell misses"};
  const std::string text = phases_text(two_phases(), forecast_of_two(), power);
  EXPECT_THAT(text, HasSubstr("20 W"));
  EXPECT_THAT(text, HasSubstr("24.0 J"));
  EXPECT_THAT(text, HasSubstr("when all 8 CPUs of server 3 run copies of the phase, idle power with it, by m.json"));
  EXPECT_THAT(text, HasSubstr("for the forecast (or native, if there is no forecast) time"));
  EXPECT_THAT(text, HasSubstr("x/1.10"));
  EXPECT_THAT(text, HasSubstr("note: 1 of 2 phases has no power"));
  const Json json = phases_json(two_phases(), forecast_of_two(), power);
  EXPECT_EQ(json["phases"][0]["machine_power_w"], 160);
  EXPECT_EQ(json["phases"][0]["core_power_w"], 20);
  EXPECT_NEAR(json["phases"][0]["core_power_upper_w"].get<double>(), 22, 1e-9);
  EXPECT_EQ(json["phases"][0]["energy_joules"], 24);
  EXPECT_FALSE(json["phases"][1].contains("energy_joules"));
  EXPECT_FALSE(json["phases"][1].contains("core_power_w"));
  EXPECT_EQ(json["power_model"]["cpus_count"], 8);
  EXPECT_FALSE(phases_json(two_phases(), forecast_of_two()).contains("power_model"));
  EXPECT_THAT(phases_html(two_phases(), forecast_of_two(), power), HasSubstr("24.0 J"));
}

TEST(PhaseReport, PageEscapesAndDraws) {
  const std::string page = phases_html(two_phases(), forecast_of_two());
  EXPECT_THAT(page, HasSubstr("&lt;prog&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<prog>")));
  EXPECT_THAT(page, HasSubstr("forecast-line"));
  EXPECT_THAT(page, HasSubstr("dashed line is the forecast"));
  const std::string measured = phases_html(two_phases(), std::nullopt);
  EXPECT_THAT(measured, HasSubstr("phase-course"));
  EXPECT_THAT(measured, Not(HasSubstr("dashed line")));
  // Lines stay lines.
  EXPECT_THAT(measured, HasSubstr("instructions\n\nphase "));
}

TEST(PhaseReport, NamesPhases) {
  EXPECT_EQ(phase_name(0), "A");
  EXPECT_EQ(phase_name(15), "P");
}

}  // namespace
}  // namespace perfcast::measure
