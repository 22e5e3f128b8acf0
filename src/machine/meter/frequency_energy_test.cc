#include "machine/meter/frequency_energy.h"

#include <gmock/gmock.h>

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::vector<FrequencyPower> example() { return {{1e9, 10, 4}, {2e9, 18, 4}, {4e9, 60, 5}}; }

TEST(FrequencyEnergy, SplitsTheTimeIntoClockAndMemory) {
  // 10 s at 4 GHz, 40% of it memory's: 4 s stay, 6 s follow the clock.
  const auto forecast = forecast_over_frequency(example(), {10, 4e9, 0.4, std::nullopt});
  ASSERT_TRUE(forecast);
  ASSERT_THAT(forecast->points, SizeIs(3));
  EXPECT_DOUBLE_EQ(forecast->points[0].time_s, 4 + 24);
  EXPECT_DOUBLE_EQ(forecast->points[1].time_s, 4 + 12);
  EXPECT_DOUBLE_EQ(forecast->points[2].time_s, 10);
  EXPECT_DOUBLE_EQ(forecast->points[0].joules, 280);
  EXPECT_DOUBLE_EQ(forecast->points[1].joules, 288);
  EXPECT_DOUBLE_EQ(forecast->points[2].joules, 600);
  EXPECT_DOUBLE_EQ(forecast->points[1].energy_delay_js, 288 * 16);
  EXPECT_EQ(forecast->best_energy, 0u);
  EXPECT_EQ(forecast->best_energy_delay, 1u);  // 7840, 4608, 6000
  EXPECT_FALSE(forecast->best_period);
}

TEST(FrequencyEnergy, FindsTheBestOfPureKinds) {
  // All compute: time halves as the clock doubles. 40 s, 20 s, 10 s: 400 J, 360 J, 600 J.
  const auto compute = forecast_over_frequency(example(), {10, 4e9, 0, std::nullopt});
  EXPECT_EQ(compute->best_energy, 1u);
  EXPECT_EQ(compute->best_energy_delay, 2u);
  // All memory: the slowest clock costs least and loses nothing.
  const auto memory = forecast_over_frequency(example(), {10, 4e9, 1, std::nullopt});
  EXPECT_EQ(memory->best_energy, 0u);
  EXPECT_EQ(memory->best_energy_delay, 0u);
  EXPECT_DOUBLE_EQ(memory->points[0].joules, 100);
}

TEST(FrequencyEnergy, WeighsIdlePowerInAPeriod) {
  // Due every 20 s: 1 GHz is not done in time.
  const auto forecast = forecast_over_frequency(example(), {10, 4e9, 0.4, 20});
  ASSERT_TRUE(forecast);
  EXPECT_FALSE(forecast->points[0].period_joules);
  EXPECT_DOUBLE_EQ(forecast->points[1].period_joules.value(), 288 + 4 * 4);
  EXPECT_DOUBLE_EQ(forecast->points[2].period_joules.value(), 600 + 5 * 10);
  EXPECT_EQ(forecast->best_period, 1u);
  // Nothing is done within 5 s.
  EXPECT_FALSE(forecast_over_frequency(example(), {10, 4e9, 0.4, 5})->best_period);
}

TEST(FrequencyEnergy, TakesTheFasterOfEquals) {
  const auto forecast = forecast_over_frequency({{1e9, 10, {}}, {2e9, 20, {}}}, {1, 1e9, 0, std::nullopt});
  EXPECT_EQ(forecast->best_energy, 1u);
}

TEST(FrequencyEnergy, RefusesWhatIsNoQuestion) {
  const auto code = [](const FrequencyQuestion& question) {
    const auto forecast = forecast_over_frequency(example(), question);
    return forecast ? "" : forecast.error().code;
  };
  EXPECT_EQ(code({0, 1e9, 0.5, {}}), "bad-usage");
  EXPECT_EQ(code({1, 0, 0.5, {}}), "bad-usage");
  EXPECT_EQ(code({1, 1e9, 1.5, {}}), "bad-usage");
  EXPECT_EQ(code({1, 1e9, 0.5, -1}), "bad-usage");
  EXPECT_FALSE(forecast_over_frequency({}, {1, 1e9, 0.5, {}}));
}

TEST(FrequencyEnergy, ReadsTables) {
  const auto table = parse_frequency_table("# of one core\nfrequency_hz,active_w,idle_w\n2e9,18,4\n1e9,10,\n", "f.csv");
  ASSERT_TRUE(table) << to_text(table.error());
  ASSERT_THAT(*table, SizeIs(2));
  EXPECT_EQ((*table)[0].frequency_hz, 1e9);
  EXPECT_FALSE((*table)[0].idle_w);
  EXPECT_EQ((*table)[1].idle_w, 4);
  std::string form = "x";
  EXPECT_TRUE(parse_frequency_table("frequency_hz,active_w\n2e9,18\n1e9,10\n", "f.csv", &form));
  EXPECT_EQ(form, "");
  const auto other =
      parse_frequency_table("frequency_hz;active_w\n2000000000;18,5\n1000000000;10,25\n", "f.csv", &form);
  ASSERT_TRUE(other) << to_text(other.error());
  EXPECT_EQ((*other)[1].active_w, 18.5);
  EXPECT_EQ(form, "columns separated by semicolons; decimal commas");
}

TEST(FrequencyEnergy, NamesWhatIsWrongWithATable) {
  const auto error = [](const char* csv) {
    const auto table = parse_frequency_table(csv, "f.csv");
    return table ? "" : table.error().code + " " + table.error().where;
  };
  EXPECT_THAT(error("frequency_hz\n1\n"), HasSubstr("missing-column"));
  EXPECT_EQ(error("frequency_hz,active_w\n1e9,0\n"), "bad-number f.csv:2");
  EXPECT_EQ(error("#\nfrequency_hz,active_w\n1e9,5\n-1,5\n"), "bad-number f.csv:4");
  EXPECT_EQ(error("frequency_hz,active_w,idle_w\n1e9,5,-1\n"), "bad-number f.csv:2");
  EXPECT_EQ(error("frequency_hz,active_w,idle_w\n1e9,5,4\n2e9,5,6\n"), "bad-number f.csv:3");  // less than idle
  EXPECT_EQ(error("frequency_hz,active_w\n1e9,5\n"), "too-few-rows f.csv");
  EXPECT_EQ(error("frequency_hz,active_w\n1e9,5\n1e9,6\n"), "duplicate-frequency f.csv");
}

TEST(FrequencyEnergy, NamesTheUnitThatWouldFit) {
  const auto expected = [](const char* csv) { return parse_frequency_table(csv, "f.csv").error().expected; };
  EXPECT_EQ(expected("frequency_hz,active_w\n1.2,5\n2.4,9\n"), "Hz: 1200000000 for 1.2 GHz");
  EXPECT_EQ(expected("frequency_hz,active_w\n1200,5\n2400,9\n"), "Hz: 1200000000 for 1200 MHz");
  EXPECT_EQ(expected("frequency_hz,active_w\n1200000,5\n2400000,9\n"), "Hz: 1200000000 for 1200000 kHz");
  EXPECT_EQ(expected("frequency_hz,active_w\n1e11,5\n2e11,9\n"), "Hz, from 1e+07 to 2e+10");
  EXPECT_EQ(expected("frequency_hz,active_w\n1e9,21000\n2e9,61000\n"), "watts: 21 if that was in milliwatts");
  EXPECT_EQ(clock_that_fits(3.2e9), "");
}

}  // namespace
}  // namespace perfcast
