#include "machine/meter/energy_reading.h"

#include <gmock/gmock.h>

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

MeterFacts counter(double range_joules = 100) {
  MeterFacts facts;
  facts.name = "rapl:package-0";
  facts.reading = MeterReading::kEnergy;
  facts.interval_s = 0.001;
  facts.resolution = 0.5;
  facts.range_joules = range_joules;
  return facts;
}

MeterFacts sampler(double interval_s = 1) {
  MeterFacts facts;
  facts.name = "hwmon:power_meter/power1";
  facts.reading = MeterReading::kPower;
  facts.interval_s = interval_s;
  return facts;
}

MeterEnergy sum(const MeterFacts& facts, const std::vector<std::pair<double, double>>& readings, double end_s) {
  EnergyAccumulator accumulator(facts);
  for (const auto& [time_s, value] : readings) accumulator.add(time_s, value);
  return accumulator.finish(0, end_s);
}

TEST(EnergyReading, SubtractsCounters) {
  const MeterEnergy energy = sum(counter(1e6), {{0, 10}, {1, 30}, {2, 50}}, 2);
  EXPECT_DOUBLE_EQ(energy.joules.value(), 40);
  EXPECT_DOUBLE_EQ(energy.mean_w.value(), 20);
  EXPECT_DOUBLE_EQ(energy.seconds_s, 2);
  EXPECT_EQ(energy.readings, 3);
  EXPECT_EQ(energy.wraps, 0);
  // Two resolutions, and an update at either end at the mean power.
  EXPECT_DOUBLE_EQ(energy.uncertainty_joules.value(), 2 * 0.5 + 20 * 2 * 0.001);
  EXPECT_THAT(energy.warnings, IsEmpty());
}

TEST(EnergyReading, FillsInWhatIsOutsideOfACountersReadings) {
  // A file's counter: 40 J in the 2 s between its readings, as much in the third second.
  MeterFacts file = counter(1e6);
  file.interval_s = 0.5;
  const MeterEnergy energy = sum(file, {{0.5, 10}, {1.5, 30}, {2.5, 50}}, 3);
  EXPECT_DOUBLE_EQ(energy.joules.value(), 40 + 20);
  EXPECT_DOUBLE_EQ(energy.uncertainty_joules.value(), 2 * 0.5 + 20 * (2 * 0.5 + 1));
  // Readings that reach beyond the end are not cut.
  EXPECT_DOUBLE_EQ(sum(counter(1e6), {{0, 10}, {2.1, 52}}, 2).joules.value(), 42);
}

TEST(EnergyReading, AddsUpACounterThatBeginsAnew) {
  // Range 100: 90 to 10 are 20 more, 95 to 5 are 10 more.
  const MeterEnergy energy = sum(counter(), {{0, 90}, {0.01, 10}, {0.02, 95}, {0.03, 5}}, 0.03);
  EXPECT_DOUBLE_EQ(energy.joules.value(), 20 + 85 + 10);
  EXPECT_EQ(energy.wraps, 2);
  ASSERT_THAT(energy.warnings, SizeIs(1));
  EXPECT_EQ(energy.warnings[0].code, "counter-wrapped");
  EXPECT_THAT(energy.warnings[0].message, HasSubstr("restarted from 0 2 times, each time after 100 J"));
}

TEST(EnergyReading, DoubtsCountersThatAreReadTooRarely) {
  // 100 J last 0.05 s at 2000 W.
  const MeterEnergy energy = sum(counter(), {{0, 90}, {1, 10}}, 1);
  EXPECT_DOUBLE_EQ(energy.joules.value(), 20);
  ASSERT_THAT(energy.warnings, SizeIs(2));
  EXPECT_EQ(energy.warnings[1].code, "wraps-unsure");
}

TEST(EnergyReading, HasNoJoulesOfACounterThatWasReset) {
  const MeterEnergy energy = sum(counter(kUnknown), {{0, 90}, {1, 10}}, 1);
  EXPECT_FALSE(energy.joules);
  EXPECT_FALSE(energy.mean_w);
  EXPECT_THAT(energy.why_missing, HasSubstr("went back 80 J"));
  // More back than the range: no wrap explains it.
  EXPECT_FALSE(sum(counter(50), {{0, 90}, {1, 10}}, 1).joules);
}

TEST(EnergyReading, IntegratesPowers) {
  // 10 W rising to 30 W and back: trapezoids.
  const MeterEnergy energy = sum(sampler(), {{0, 10}, {1, 30}, {2, 30}, {3, 10}}, 3);
  EXPECT_DOUBLE_EQ(energy.joules.value(), 20 + 30 + 20);
  // Half of each step, while it lasted.
  EXPECT_DOUBLE_EQ(energy.uncertainty_joules.value(), 10 + 0 + 10);
  EXPECT_EQ(energy.gap_s, 0);
}

TEST(EnergyReading, HoldsPowersToTheEnds) {
  // From 0 to 0.5 s and from 2.5 s to 3 s as the nearest reading.
  const MeterEnergy energy = sum(sampler(), {{0.5, 20}, {1.5, 20}, {2.5, 40}}, 3);
  EXPECT_DOUBLE_EQ(energy.joules.value(), 10 + 20 + 30 + 20);
}

TEST(EnergyReading, CutsReadingsBeyondTheEnds) {
  // A log's: 10 W before, 30 W behind, linear between.
  const MeterEnergy energy = sum(sampler(), {{-1, 10}, {1, 30}, {3, 30}}, 2);
  EXPECT_DOUBLE_EQ(energy.joules.value(), 25 + 30);
}

TEST(EnergyReading, NamesGaps) {
  const MeterEnergy energy = sum(sampler(), {{0, 10}, {1, 10}, {2, 10}, {6, 30}, {7, 10}, {8, 10}, {9, 10}}, 9);
  EXPECT_DOUBLE_EQ(energy.joules.value(), 10 + 10 + 80 + 20 + 10 + 10);
  EXPECT_DOUBLE_EQ(energy.gap_s, 4);
  ASSERT_THAT(energy.warnings, SizeIs(1));
  EXPECT_EQ(energy.warnings[0].code, "gap");
  EXPECT_THAT(energy.warnings[0].message, HasSubstr("4 s of the 9 s"));
  // In the gap anything from the lowest to the highest reading.
  EXPECT_DOUBLE_EQ(energy.uncertainty_joules.value(), 10 + 4 * 20);
}

TEST(EnergyReading, HasNoJoulesWhereMostIsAGap) {
  const MeterEnergy energy = sum(sampler(), {{0, 10}, {1, 10}, {9, 10}, {10, 10}}, 10);
  EXPECT_FALSE(energy.joules);
  EXPECT_EQ(energy.why_missing, "no reading stands for 8 s of the 10 s");
}

TEST(EnergyReading, TakesTheRateOfALogFromItself) {
  MeterFacts log = sampler(kUnknown);
  log.reading = MeterReading::kLog;
  EXPECT_DOUBLE_EQ(sum(log, {{0, 10}, {5, 10}, {10, 10}}, 10).joules.value(), 100);
  EXPECT_EQ(sum(log, {{0, 10}, {5, 10}}, 6).why_missing,
            "the 6 s it lasted are less than two readings of the meter, which come every 5 s");
}

TEST(EnergyReading, NeedsTwoReadings) {
  EXPECT_EQ(sum(sampler(), {}, 3).why_missing, "no reading came while it lasted, and two are needed");
  EXPECT_EQ(sum(sampler(), {{1, 5}}, 3).why_missing, "one reading came while it lasted, and two are needed");
  EXPECT_THAT(sum(sampler(), {{0, 5}, {1, 5}}, 1).why_missing, HasSubstr("less than two readings"));
}

TEST(EnergyReading, CountsReadingsThatFailed) {
  EnergyAccumulator accumulator(counter());
  accumulator.fail({"no-permission", "cannot read", "/sys/x", ""});
  accumulator.add(0, 1);
  accumulator.add(1, 5);
  const MeterEnergy energy = accumulator.finish(0, 1);
  EXPECT_DOUBLE_EQ(energy.joules.value(), 4);
  EXPECT_EQ(energy.warnings.front().message, "1 reading failed: cannot read (/sys/x)");
}

TEST(EnergyReading, WidensByTheMetersAccuracy) {
  MeterFacts facts = sampler();
  facts.accuracy_ratio = 0.05;
  EXPECT_DOUBLE_EQ(sum(facts, {{0, 10}, {1, 10}, {2, 10}}, 2).uncertainty_joules.value(), 1);
}

TEST(EnergyReading, SubtractsIdle) {
  const MeterEnergy idle = sum(sampler(), {{0, 8}, {1, 8}, {2, 8}}, 2);
  MeterEnergy energy = sum(sampler(), {{0, 20}, {1, 20}, {2, 20}, {3, 20}}, 3);
  subtract_idle(idle, energy);
  EXPECT_DOUBLE_EQ(energy.joules.value(), 60);
  EXPECT_DOUBLE_EQ(energy.idle_w.value(), 8);
  EXPECT_DOUBLE_EQ(energy.above_idle_joules.value(), 36);
  EXPECT_THAT(energy.warnings, IsEmpty());
  MeterEnergy same, constant = energy;  // what rounding leaves is nothing
  same.mean_w = 100.1;
  constant.seconds_s = 3.3;
  constant.joules = 100.1 * 3.3 - 1e-13;
  subtract_idle(same, constant);
  EXPECT_EQ(constant.above_idle_joules.value(), 0);
  EXPECT_THAT(constant.warnings, IsEmpty());
  MeterEnergy less = sum(sampler(), {{0, 5}, {1, 5}, {2, 5}}, 2);
  subtract_idle(idle, less);
  EXPECT_DOUBLE_EQ(less.above_idle_joules.value(), -6);
  EXPECT_EQ(less.warnings.front().code, "idle-higher");
  // Within what both readings leave open nothing is told of the machine.
  MeterEnergy near = sum(sampler(), {{0, 7.9}, {1, 8}, {2, 7.9}}, 2), unsure_idle = idle;
  near.uncertainty_joules = 0.1;
  unsure_idle.uncertainty_joules = 0.3;
  subtract_idle(unsure_idle, near);
  EXPECT_LT(near.above_idle_joules.value(), 0);
  EXPECT_THAT(near.warnings, IsEmpty());
  MeterEnergy without = sum(sampler(), {{0, 5}, {1, 5}, {2, 5}}, 2);
  subtract_idle(sum(sampler(), {}, 2), without);
  EXPECT_FALSE(without.idle_w);
  EXPECT_EQ(without.warnings.front().code, "idle-unknown");
}

}  // namespace
}  // namespace perfcast
