#include "place/workload/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::place {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

PlacementRow row(const std::string& device, PlaceKind kind, double time_s,
                 std::optional<double> power_w = std::nullopt) {
  PlacementRow one;
  one.device = device;
  one.kind = kind;
  one.time_s = time_s;
  one.lower_s = time_s / 1.2;
  one.upper_s = time_s * 1.2;
  one.power_w = power_w;
  one.bound = PlaceBound::kMemory;
  one.price_time();
  return one;
}

// Fast and hungry, slow and frugal, slower and hungrier than the first; a CPU of which no power is known, and one that
// is too small.
Placement four_devices() {
  Placement placement;
  placement.workload = "test";
  placement.rows = {row("Frugal", PlaceKind::kGpu, 4, 50), row("Beaten", PlaceKind::kGpu, 2, 400),
                    row("AMD EPYC 7763 64-Core Processor", PlaceKind::kCpu, 9), row("Fast", PlaceKind::kTpu, 1, 300),
                    row("Too small", PlaceKind::kAsic, 0.1, 10)};
  placement.rows.back().fits = false;
  placement.rows.back().fits_on = 4;
  placement.rows[3].aliases = {"quick one"};
  return placement;
}

std::vector<std::string> names(const Placement& placement) {
  std::vector<std::string> all;
  for (const PlacementRow& one : placement.rows) all.push_back(one.device);
  return all;
}

TEST(Placement, SortsAndFindsWhatNothingBeats) {
  Placement placement = four_devices();
  ASSERT_TRUE(finish_placement({}, placement));
  EXPECT_THAT(names(placement),
              ElementsAre("Fast", "Beaten", "Frugal", "AMD EPYC 7763 64-Core Processor", "Too small"));
  EXPECT_TRUE(placement.rows[0].is_on_front);
  EXPECT_FALSE(placement.rows[1].is_on_front);  // slower and hungrier than the first
  EXPECT_TRUE(placement.rows[2].is_on_front);   // least energy
  EXPECT_FALSE(placement.rows[3].is_on_front);  // what isn't known of it doesn't save it
  EXPECT_FALSE(placement.rows[4].is_on_front);  // doesn't fit
  ASSERT_THAT(placement.best, SizeIs(2));       // of no row the cost is known
  EXPECT_EQ(placement.best[0].measure, PlaceMeasure::kTime);
  EXPECT_EQ(placement.rows[placement.best[0].row].device, "Fast");
  EXPECT_EQ(placement.rows[placement.best[1].row].device, "Frugal");
  ASSERT_THAT(placement.reasons, SizeIs(2));
  EXPECT_THAT(placement.reasons[0], HasSubstr("Fast (tpu) takes 1 s (833 ms to 1.2 s), the least of 4"));
  EXPECT_THAT(placement.reasons[1], HasSubstr("Beaten (gpu) comes next: it takes 2 times as long"));
}

TEST(Placement, UnknownEnergyBeatsNothing) {
  Placement placement;
  placement.rows = {row("Known", PlaceKind::kGpu, 2, 100), row("Unknown", PlaceKind::kGpu, 1)};
  ASSERT_TRUE(finish_placement({}, placement));
  EXPECT_TRUE(placement.rows[0].is_on_front);
  EXPECT_TRUE(placement.rows[1].is_on_front);
}

TEST(Placement, EnergyAndCostFollowFromTime) {
  PlacementRow one = row("A", PlaceKind::kGpu, 7200, 250);
  one.count = 2;
  one.price_per_hour = 3;
  one.price_time();
  EXPECT_DOUBLE_EQ(*one.energy_joules, 7200.0 * 250 * 2);
  EXPECT_DOUBLE_EQ(*one.cost, 12);
}

TEST(Placement, PricesSortsAndLimits) {
  Placement placement = four_devices();
  PlacementWishes wishes;
  wishes.prices_per_hour = {{"", 3600}, {"frugal", 360}};
  wishes.sort = PlacementWishes::Sort::kCost;
  ASSERT_TRUE(finish_placement(wishes, placement));
  EXPECT_EQ(placement.rows[0].device, "Frugal");
  EXPECT_DOUBLE_EQ(*placement.rows[0].cost, 0.4);
  EXPECT_EQ(placement.best.front().measure, PlaceMeasure::kCost);

  placement = four_devices();
  wishes = {};
  wishes.most_s = 3;
  wishes.most_joules = 600;
  ASSERT_TRUE(finish_placement(wishes, placement));
  EXPECT_EQ(placement.rows[placement.best[0].row].device, "Fast");
  EXPECT_EQ(placement.rows[placement.best[1].row].device, "Fast");  // the frugal one takes too long
  EXPECT_THAT(placement.notes, Contains(HasSubstr("3 of 5 rows break a limit")));

  placement = four_devices();
  wishes.most_s = 0.01;
  ASSERT_TRUE(finish_placement(wishes, placement));
  EXPECT_TRUE(placement.best.empty());
  // 1 s is 100 limits, and within 600 J.
  EXPECT_THAT(placement.reasons,
              ElementsAre(HasSubstr("No row can be taken"), "Nearest to the limits is Fast (tpu): " + human_seconds(1) +
                                                                ", the limit is " + human_seconds(0.01) + "."));
}

TEST(Placement, KeepsKindsAndNames) {
  Placement placement = four_devices();
  PlacementWishes wishes;
  wishes.kinds = {PlaceKind::kGpu, PlaceKind::kTpu};
  wishes.filters = {"QUICK", "frug"};
  ASSERT_TRUE(finish_placement(wishes, placement));
  EXPECT_THAT(names(placement), ElementsAre("Fast", "Frugal"));

  placement = four_devices();
  wishes.kinds = {PlaceKind::kAsic};
  EXPECT_EQ(finish_placement(wishes, placement).error().code, "no-device");

  placement = four_devices();
  wishes.filters = {"fasst"};
  const Status unknown = finish_placement(wishes, placement);
  EXPECT_EQ(unknown.error().code, "unknown-device");
  EXPECT_THAT(unknown.error().expected, HasSubstr("Fast"));
}

TEST(Placement, ChipsByTheirCoresToo) {
  Placement placement;
  placement.rows = {row("AWS Graviton2", PlaceKind::kCpu, 1), row("Ampere Altra", PlaceKind::kCpu, 2),
                    row("AWS Graviton3", PlaceKind::kCpu, 3)};
  EXPECT_EQ(*find_row(placement, "neoverse-v1", "x"), 2u);
  const auto two = find_row(placement, "Neoverse-N1", "x");
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, "ambiguous-device");
  EXPECT_THAT(two.error().expected, HasSubstr("Ampere Altra"));
  EXPECT_THAT(two.error().expected, Not(HasSubstr("Graviton3")));
  placement.rows[1].device = "Neoverse-N1";
  EXPECT_EQ(*find_row(placement, "Ampere Altra", "x"), 1u);
  PlacementWishes wishes;
  wishes.filters = {"neoverse-n1"};
  ASSERT_TRUE(finish_placement(wishes, placement));
  EXPECT_THAT(names(placement), ElementsAre("AWS Graviton2", "Neoverse-N1"));
}

TEST(Placement, NamesAreAsPeopleWriteThem) {
  const Placement placement = four_devices();
  EXPECT_EQ(*find_row(placement, "TOO_SMALL", "x"), 4u);
  EXPECT_EQ(*find_row(placement, "quick-one", "x"), 3u);
  EXPECT_EQ(*find_row(placement, "EPYC 7763", "x"), 2u);
  EXPECT_EQ(*find_row(placement, "beat", "x"), 1u);
  EXPECT_EQ(find_row(placement, "a", "x").error().code, "ambiguous-device");
  EXPECT_EQ(find_row(placement, "Fasted", "x").error().where, "x");
}

TEST(Placement, MeasuredTimesStandInTheirRows) {
  Placement placement = four_devices();
  PlacementWishes wishes;
  wishes.measured_s = {{"beaten", 0.5}, {"EPYC 7763", 900}};
  ASSERT_TRUE(finish_placement(wishes, placement));
  const PlacementRow& first = placement.rows.front();
  EXPECT_EQ(first.device, "Beaten");
  EXPECT_EQ(first.basis, PlaceBasis::kMeasured);
  EXPECT_DOUBLE_EQ(*first.forecast_s, 2);
  EXPECT_DOUBLE_EQ(*first.energy_joules, 200);
  EXPECT_FALSE(first.lower_s);
  EXPECT_THAT(placement.notes, Contains(HasSubstr("is 100 times its forecast")));

  for (const auto& [device, seconds, code] :
       {std::tuple{"Fast", -1.0, "bad-usage"}, {"Fast", 1e-300, "bad-usage"}, {"Nobody", 1.0, "unknown-device"}}) {
    placement = four_devices();
    wishes.measured_s = {{device, seconds}};
    const Status refused = finish_placement(wishes, placement);
    EXPECT_EQ(refused.error().code, code);
    EXPECT_EQ(refused.error().where, "measured");
  }
}

TEST(Placement, MeasuredTimesBelowWhatTheDeviceCanAreDoubted) {
  Placement placement = four_devices();
  placement.rows[1].least_s = 0.5;
  PlacementWishes wishes;
  wishes.measured_s = {{"beaten", 0.4}};
  ASSERT_TRUE(finish_placement(wishes, placement));
  EXPECT_THAT(placement.notes, Contains(HasSubstr("the measured time of Beaten, 400 ms, is below the 500 ms that")));
  placement = four_devices();
  placement.rows[1].least_s = 0.5;
  wishes.measured_s = {{"beaten", 0.48}};  // a clock somewhat higher
  ASSERT_TRUE(finish_placement(wishes, placement));
  EXPECT_THAT(placement.notes, Not(Contains(HasSubstr("is below the"))));
}

TEST(Placement, RefusesPowersOfNoDevice) {
  Placement placement = four_devices();
  PlacementWishes wishes;
  wishes.powers_w = {{"fast", 500000}};
  const Status refused = finish_placement(wishes, placement);
  EXPECT_EQ(refused.error().where, "power-w");
  EXPECT_EQ(refused.error().message, "500000 W for fast");
  EXPECT_THAT(refused.error().expected, HasSubstr("at most 20000"));
}

TEST(Placement, NotesOfEnergyAreOfThePowersThereAre) {
  Placement placement;
  placement.kind = PlacedWorkload::kProfile;
  placement.rows = {row("A", PlaceKind::kCpu, 2), row("B", PlaceKind::kCpu, 3)};
  for (PlacementRow& one : placement.rows) {
    one.energy_joules = 5;
    one.energy_basis = EnergyBasis::kTdp;
  }
  Placement given = placement;
  ASSERT_TRUE(finish_placement({}, placement));
  EXPECT_THAT(placement.notes, IsEmpty());  // the forecast says it
  PlacementWishes wishes;
  wishes.powers_w = {{"A", 10}, {"B", 10}};
  ASSERT_TRUE(finish_placement(wishes, given));
  EXPECT_THAT(given.notes, ElementsAre("energy: at the power that was given"));
}

TEST(Placement, AsksForPricesWhereTheyAreNeeded) {
  Placement placement = four_devices();
  PlacementWishes wishes;
  wishes.sort = PlacementWishes::Sort::kCost;
  EXPECT_EQ(finish_placement(wishes, placement).error().where, "sort");
  wishes = {};
  wishes.most_cost = 1;
  const Status refused = finish_placement(wishes, placement);
  EXPECT_EQ(refused.error().where, "budget");
  EXPECT_THAT(refused.error().expected, HasSubstr("--prices"));
}

TEST(Placement, TakesDevicesOfAPriceList) {
  Placement placement = four_devices();
  const auto prices = program::PriceList::parse(
      "vendor,server,price_eur_per_hour\na,quick-one,3\nb,Quick One,2\na,nothing,1\n", "prices.csv");
  ASSERT_TRUE(prices);
  take_prices(*prices, placement);
  EXPECT_EQ(placement.currency, "EUR");
  EXPECT_DOUBLE_EQ(*placement.rows[3].price_per_hour, 2);
  EXPECT_FALSE(placement.rows[0].price_per_hour);
  EXPECT_THAT(placement.notes, ElementsAre("prices: prices.csv",
                                           "1 of 3 prices matches no device and no instance type of the rows: a "
                                           "nothing (prices.csv:4; near: Beaten, Too small, ...)"));
}

TEST(Placement, PricesOfTheRowsInstanceTypesLeaveNoNote) {
  Placement placement = four_devices();
  placement.rows[2].instance = "aws c7i.xlarge";
  const auto prices = program::PriceList::parse("vendor,server,price_per_hour\naws,c7i.xlarge,0.2\n", "prices.csv");
  ASSERT_TRUE(prices);
  take_prices(*prices, placement);
  EXPECT_THAT(placement.notes, ElementsAre("prices: prices.csv"));
}

TEST(Placement, JsonIsWholeAndTheSameEachTime) {
  Placement placement = four_devices();
  ASSERT_TRUE(finish_placement({}, placement));
  placement.break_even = {{PlaceMeasure::kTime, "A", "B", 1, 64, 7, 1, "B"},
                          {PlaceMeasure::kEnergy, "A", "B", 1, 64, {}, 0, ""}};
  const Json json = to_json(placement);
  EXPECT_EQ(json["schema"], "perfcast.placement/1");
  EXPECT_EQ(json.begin().key(), "schema");
  ASSERT_EQ(json["rows"].size(), 5u);
  EXPECT_EQ(json["rows"][0]["kind"], "tpu");
  EXPECT_EQ(json["rows"][0]["basis"], "datasheet");
  EXPECT_EQ(json["rows"][0]["bound"], "memory");
  EXPECT_FALSE(json["rows"][3].contains("energy_joules"));  // not known is left out
  EXPECT_FALSE(json["rows"][0].contains("cost"));
  EXPECT_EQ(json["rows"][4]["fits"], false);
  EXPECT_EQ(json["rows"][4]["fits_on_count"], 4);
  EXPECT_EQ(json["best"]["device"], "Fast");
  EXPECT_EQ(json["best"]["least_energy"], "Frugal");
  EXPECT_EQ(json["break_even"][0]["at_count"], 7);
  EXPECT_TRUE(json["break_even"][1]["at_count"].is_null());
  EXPECT_EQ(to_text(json), to_text(to_json(placement)));
}

TEST(Placement, KindsHaveNames) {
  for (size_t i = 0; i < kPlaceKinds; ++i) {
    const auto kind = static_cast<PlaceKind>(i);
    EXPECT_EQ(place_kind_named(name_of(kind)), kind);
  }
  EXPECT_FALSE(place_kind_named("fpga"));
  DeviceFacts device;
  device.kind = DeviceKind::kTpu;
  device.vendor = "Google";
  EXPECT_EQ(kind_of(device), PlaceKind::kTpu);
  device.vendor = "Intel";
  EXPECT_EQ(kind_of(device), PlaceKind::kAsic);
}

}  // namespace
}  // namespace perfcast::place
