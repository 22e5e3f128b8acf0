#include "place/workload/break_even.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::place {
namespace {

using ::testing::SizeIs;

double as_double(int64_t value) { return static_cast<double>(value); }

TEST(Crossing, IsFoundToTheSize) {
  // 10 + s against 3 s: equal at 5, below from 6 on.
  const auto flat = [](int64_t size) { return 10 + as_double(size); };
  const auto steep = [](int64_t size) { return 3 * as_double(size); };
  const SizeCrossing crossing = find_crossing(steep, flat, 1, 1000);
  EXPECT_EQ(crossing.at, 6);
  EXPECT_EQ(crossing.crossings_count, 1);
  EXPECT_FALSE(find_crossing(steep, flat, 1, 5).at);
  EXPECT_EQ(find_crossing(steep, flat, 1, 6).at, 6);
  EXPECT_FALSE(find_crossing(steep, steep, 1, 1000).at);
  EXPECT_FALSE(find_crossing(steep, flat, 1, 1).at);
}

TEST(Crossing, TellsThatItChangesBack) {
  const auto level = [](int64_t) { return 1.0; };
  const auto dip = [](int64_t size) { return size > 10 && size < 100 ? 0.5 : 2.0; };
  const SizeCrossing crossing = find_crossing(level, dip, 1, 1 << 20);
  EXPECT_EQ(crossing.at, 11);
  EXPECT_EQ(crossing.crossings_count, 2);
}

TEST(LargestSize, IsFoundToTheSize) {
  for (const int64_t limit : {1, 2, 7, 64, 999}) {
    EXPECT_EQ(largest_size([&](int64_t size) { return size <= limit; }, 1, 999), limit);
  }
  EXPECT_EQ(largest_size([](int64_t) { return false; }, 1, 999), 0);
}

// A starts slowly and grows slowly; B holds 500 at the most.
std::optional<SizedTime> at_size(const std::string& device, int64_t size) {
  if (device == "A") return SizedTime{10 + as_double(size), std::nullopt};
  if (device == "B" && size > 500) return std::nullopt;
  return SizedTime{3 * as_double(size), std::nullopt};
}

Placement two_rows() {
  Placement placement;
  for (const char* name : {"A", "B"}) {
    PlacementRow row;
    row.device = name;
    row.kind = name[0] == 'A' ? PlaceKind::kGpu : PlaceKind::kCpu;
    row.time_s = at_size(name, 2)->time_s;
    row.power_w = name[0] == 'A' ? 30 : 10;
    row.price_time();
    placement.rows.push_back(row);
  }
  EXPECT_TRUE(finish_placement({}, placement));
  return placement;
}

TEST(BreakEven, BetweenTheBestOfTwoKindsByEveryMeasure) {
  const auto all = find_break_even(two_rows(), at_size, std::nullopt, 2, 4096);
  ASSERT_TRUE(all);
  ASSERT_THAT(*all, SizeIs(2));
  const PlaceBreakEven& time = (*all)[0];
  EXPECT_EQ(time.first, "B");
  EXPECT_EQ(time.second, "A");
  EXPECT_EQ(time.at, 6);
  EXPECT_EQ(time.most, 500);
  EXPECT_EQ(time.limited_by, "B");
  const PlaceBreakEven& energy = (*all)[1];  // 30 (10 + s) is never below 30 s
  EXPECT_EQ(energy.measure, PlaceMeasure::kEnergy);
  EXPECT_FALSE(energy.at);
}

TEST(BreakEven, MeasuredTimesScaleTheForecast) {
  Placement placement = two_rows();
  for (PlacementRow& row : placement.rows) {
    if (row.device != "B") continue;
    row.time_s = 12;  // twice its forecast
    row.basis = PlaceBasis::kMeasured;
    row.price_time();
  }
  const auto all = find_break_even(placement, at_size, std::pair(std::string("a"), std::string("b")), 2, 4096);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->front().at, 3);  // 10 + s against 6 s: equal at 2
}

TEST(BreakEven, ModelledWattsAreThoseOfTheSize) {
  Placement placement = two_rows();
  for (PlacementRow& row : placement.rows) row.energy_basis = EnergyBasis::kModelled;
  // The larger it is, the less A draws: 300 (10 + s) / s against 30 s.
  const auto less = [](const std::string& device, int64_t size) {
    auto sized = at_size(device, size);
    if (device == "A") sized->power_w = 300 / as_double(size);
    return sized;
  };
  const auto all = find_break_even(placement, less, std::nullopt, 2, 4096);
  ASSERT_TRUE(all);
  ASSERT_THAT(*all, SizeIs(2));
  EXPECT_EQ((*all)[1].measure, PlaceMeasure::kEnergy);
  EXPECT_EQ((*all)[1].at, 17);  // s^2 = 10 (10 + s): 16.2
}

TEST(BreakEven, NamesOfRows) {
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(find_break_even(two_rows(), at_size, Pair("A", "C"), 2, 64).error().code, "unknown-device");
  EXPECT_EQ(find_break_even(two_rows(), at_size, Pair("A", "a"), 2, 64).error().code, "bad-usage");
  Placement placement = two_rows();
  for (PlacementRow& row : placement.rows) row.time_s = std::nullopt;
  EXPECT_EQ(find_break_even(placement, at_size, Pair("A", "B"), 2, 64).error().where, "break-even");
}

}  // namespace
}  // namespace perfcast::place
