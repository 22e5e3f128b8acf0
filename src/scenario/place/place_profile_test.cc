#include "scenario/place/place_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluate/testing/synthetic_corpus.h"
#include "evaluate/testing/synthetic_forecaster.h"
#include "scenario/place/testing/place_devices.h"

namespace perfcast {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<DeviceFacts> accelerators() {
  std::vector<DeviceFacts> facts;
  for (const PlaceDevice& device : testing::round_devices()) facts.push_back(device->device());
  return facts;
}

Placement placed_profile(const ForecastRequest& request, const PlacementWishes& wishes = {}) {
  auto placement = place_profile(synthetic_forecaster(), synthetic_profile({}, 11), request, accelerators());
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

TEST(PlaceProfile, AMeasuredPortStandsBesideTheForecasts) {
  PlacementWishes wishes;
  wishes.measured_s = {{"big", 0.01}};
  const Placement placement = placed_profile({}, wishes);
  EXPECT_EQ(placement.rows.front().device, "Big GPU");
  EXPECT_EQ(placement.rows.front().basis, PlaceBasis::kMeasured);
}

TEST(PlaceProfile, WithoutSecondsByRelativeTime) {
  Profile profile = synthetic_profile({}, 11);
  profile.host = {};
  auto placement = place_profile(synthetic_forecaster(), profile, {}, accelerators());
  ASSERT_TRUE(placement);
  ASSERT_TRUE(finish_placement({}, *placement));
  ASSERT_FALSE(placement->best.empty());
  EXPECT_FALSE(placement->rows.front().time_s);
  EXPECT_THAT(placement->reasons.front(), HasSubstr("times the mean"));
  for (size_t i = 1; i < 6; ++i) {
    EXPECT_LE(*placement->rows[i - 1].relative_time, *placement->rows[i].relative_time);
  }
}

}  // namespace
}  // namespace perfcast
