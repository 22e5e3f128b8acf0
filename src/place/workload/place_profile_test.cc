#include "place/workload/place_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/workload/testing/place_devices.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/evaluate/testing/synthetic_forecaster.h"

namespace perfcast::place {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<DeviceFacts> accelerators() {
  std::vector<DeviceFacts> facts;
  for (const PlaceDevice& device : testing::round_devices()) facts.push_back(device->device());
  return facts;
}

Placement placed_profile(const program::ForecastRequest& request, const PlacementWishes& wishes = {}) {
  auto placement =
      place_profile(program::synthetic_forecaster(), program::synthetic_profile({}, 11), request, accelerators());
  EXPECT_TRUE(placement);
  EXPECT_TRUE(finish_placement(wishes, *placement));
  return *std::move(placement);
}

TEST(PlaceProfile, CpusHaveForecastsAndNothingElseHas) {
  const Placement placement = placed_profile({});
  ASSERT_THAT(placement.rows, SizeIs(10));
  size_t cpus = 0;
  for (const PlacementRow& row : placement.rows) {
    if (row.kind == PlaceKind::kCpu) {
      ++cpus;
      EXPECT_TRUE(row.time_s && row.relative_time);
      EXPECT_TRUE(row.note.empty());
    } else {
      EXPECT_FALSE(row.time_s || row.relative_time || row.energy_joules || row.bound);
      EXPECT_FALSE(row.is_on_front);
      EXPECT_THAT(row.note, HasSubstr("CPU program"));
    }
  }
  EXPECT_EQ(cpus, 6u);
  EXPECT_EQ(placement.rows.front().kind, PlaceKind::kCpu);
  EXPECT_TRUE(placement.break_even.empty());
}

TEST(PlaceProfile, BoundsAreWhatMostCyclesGoToAndWarningsAreTold) {
  Profile profile = program::synthetic_profile({}, 11);
  profile.metrics["core_zen3_cycles_count"] = 2 * profile.metrics.at("instructions_count");
  profile.warnings.push_back({"clock-bound", "it runs by the clock", ""});
  const auto bound_of = [&profile](CoreBoundRatios ratios) {
    profile.core_bounds = {{"zen3", std::move(ratios)}};
    const auto placement = place_profile(program::synthetic_forecaster(), profile, {}, accelerators());
    EXPECT_TRUE(placement);
    EXPECT_THAT(placement->notes, Contains("it runs by the clock"));
    std::optional<PlaceBound> bound;
    for (const PlacementRow& row : placement->rows) bound = row.bound ? row.bound : bound;
    return bound;
  };
  EXPECT_EQ(bound_of({{"L1", 0.42}, {"L2", 0.2}, {"mispredictions", 0.19}, {"memory", 0.1}}), PlaceBound::kCache);
  EXPECT_EQ(bound_of({{"L1", 0.2}, {"memory", 0.5}, {"width", 0.3}}), PlaceBound::kMemory);
  EXPECT_EQ(bound_of({{"L1", 0.2}, {"memory", 0.3}, {"width", 0.5}}), PlaceBound::kCompute);
  EXPECT_EQ(words_of(PlaceBound::kCache, PlacedWorkload::kProfile), "waiting for caches");
}

TEST(PlaceProfile, AMeasuredPortStandsBesideTheForecasts) {
  PlacementWishes wishes;
  wishes.measured_s = {{"big", 0.01}};
  const Placement placement = placed_profile({}, wishes);
  EXPECT_EQ(placement.rows.front().device, "Big GPU");
  EXPECT_EQ(placement.rows.front().basis, PlaceBasis::kMeasured);
}

TEST(PlaceProfile, WithoutSecondsByRelativeTime) {
  Profile profile = program::synthetic_profile({}, 11);
  profile.host = {};
  auto placement = place_profile(program::synthetic_forecaster(), profile, {}, accelerators());
  ASSERT_TRUE(placement);
  ASSERT_TRUE(finish_placement({}, *placement));
  ASSERT_FALSE(placement->best.empty());
  EXPECT_FALSE(placement->rows.front().time_s);
  EXPECT_THAT(placement->reasons.front(), HasSubstr("times the mean"));
  for (size_t i = 1; i < 6; ++i) {
    EXPECT_LE(*placement->rows[i - 1].relative_time, *placement->rows[i].relative_time);
  }
}

TEST(PlaceProfile, EnergiesAreThoseOfTheForecast) {
  program::ForecastRequest request;
  request.energy.emplace();
  auto table = PlatformPowerTable::parse(
      R"({"schema": "perfcast.platform-power/1", "cpus": [
          {"name": "Example 300", "tdp_w": 160, "cores_count": 8, "source": "a data sheet"},
          {"name": "Example 600", "tdp_w": 100, "cores_count": 20, "source": "a data sheet"}]})",
      "p.json");
  ASSERT_TRUE(table);
  request.energy->table = *table;
  const auto report =
      program::forecast_program(program::synthetic_forecaster(), program::synthetic_profile({}, 11), request);
  ASSERT_TRUE(report);
  PlacementWishes wishes;
  wishes.powers_w = {{"Example 300", 50}, {"", 10}};
  wishes.measured_s = {{"big", 0.5}};
  const Placement placement = placed_profile(request, wishes);
  for (const program::PlatformRow& row : report->rows) {
    if (row.platform.name != "Example 600") continue;
    const PlacementRow& placed = perfcast::place::testing::row_called(placement, "Example 600");
    EXPECT_EQ(placed.energy_joules, row.energy->joules);
    EXPECT_EQ(placed.energy_upper_joules, row.energy->upper_joules);
    EXPECT_EQ(placed.energy_basis, EnergyBasis::kTdp);
  }
  const PlacementRow& given = perfcast::place::testing::row_called(placement, "Example 300");
  EXPECT_EQ(given.energy_basis, EnergyBasis::kGiven);
  EXPECT_NEAR(given.energy_joules.value(), 50 * *given.time_s, 1e-9);
  EXPECT_NEAR(perfcast::place::testing::row_called(placement, "Example 100").energy_joules.value(),
              10 * *perfcast::place::testing::row_called(placement, "Example 100").time_s, 1e-9);
  // A port that was timed, at its device's power.
  EXPECT_EQ(perfcast::place::testing::row_called(placement, "big").energy_basis, EnergyBasis::kDatasheet);
  EXPECT_TRUE(perfcast::place::testing::row_called(placement, "big").energy_joules);
}

}  // namespace
}  // namespace perfcast::place
