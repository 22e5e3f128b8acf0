#include "place/workload/place_product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/workload/break_even.h"
#include "place/workload/host_link.h"
#include "place/workload/testing/place_devices.h"

namespace perfcast::place {
namespace {

using perfcast::place::testing::row_called;
using ::testing::HasSubstr;

Placement placed_product(const std::string& product, bool resident = false, double host_link = kUnknown) {
  static const std::vector<PlaceDevice> devices = testing::round_devices();
  static const std::vector<PlaceCpu> cpus = {testing::round_cpu()};
  const auto parsed = parse_product(product);
  EXPECT_TRUE(parsed) << product;
  Placement placement = ProductPlacer({*parsed, host_link, resident}, devices, cpus).place();
  EXPECT_TRUE(finish_placement({}, placement));
  return placement;
}

TEST(Product, IsReadAsPeopleWriteIt) {
  const auto product = parse_product("1024, 2048,512,bf16");
  ASSERT_TRUE(product);
  EXPECT_EQ(product->to_text(), "1024 x 2048 x 512 bf16");
  EXPECT_DOUBLE_EQ(product->operations(), 2.0 * 1024 * 2048 * 512);
  EXPECT_DOUBLE_EQ(product->operand_bytes(), 2.0 * 512 * (1024 + 2048));
  EXPECT_DOUBLE_EQ(product->result_bytes(), 2.0 * 1024 * 2048);
  EXPECT_EQ(product->scaled_to(1024).to_text(), "512 x 1024 x 256 bf16");
  EXPECT_EQ(product->scaled_to(1).to_text(), "1 x 1 x 1 bf16");
  EXPECT_EQ(parse_product("7,7,7")->precision, ai::Precision::kFp32);
  EXPECT_DOUBLE_EQ(parse_product("7,7,7,int8")->result_bytes(), 4.0 * 49);  // sums are int32
  EXPECT_EQ(parse_product("1024x2048x512")->to_text(), "1024 x 2048 x 512 fp32");
  EXPECT_EQ(parse_product(product->to_text())->to_text(), product->to_text());
  EXPECT_EQ(parse_product("7x7x7,half")->precision, ai::Precision::kFp16);
  for (const char* bad : {"", "1x2", "1x2x3x4", "1 2 3", "1,2", "1,2,3,4,5", "0,1,1", "1.5,1,1", "1,2,1e9",
                          "1,1,1,q4_k_m", "1,1,1,fp64", "a,1,1"}) {
    EXPECT_EQ(parse_product(bad).error().code, "bad-product") << bad;
  }
  EXPECT_TRUE(looks_like_product("1,2"));
  EXPECT_TRUE(looks_like_product("4096x4096x4096"));
  EXPECT_FALSE(looks_like_product("mixtral-8x7b"));
  EXPECT_FALSE(looks_like_product("llama3-8b"));
  EXPECT_FALSE(looks_like_product("a,b,c"));
}

TEST(PlaceProduct, TinyOnesBelongToTheCpu) {
  const Placement placement = placed_product("16,16,16");
  EXPECT_EQ(placement.rows.front().kind, PlaceKind::kCpu);
  const PlacementRow& gpu = row_called(placement, "big");
  EXPECT_EQ(gpu.bound, PlaceBound::kTransfer);
  EXPECT_GT(*gpu.transfer_s, 0.5 * *gpu.time_s);
}

TEST(PlaceProduct, LargeOnesBelongToTheGpu) {
  const Placement placement = placed_product("16384,16384,16384");
  EXPECT_EQ(placement.rows.front().device, "Big GPU");
  EXPECT_EQ(placement.rows.front().bound, PlaceBound::kCompute);
  EXPECT_EQ(row_called(placement, "EPYC 7763").bound, PlaceBound::kCompute);
  EXPECT_THAT(placement.reasons.front(), HasSubstr("arithmetic bounds it"));
}

TEST(PlaceProduct, OneRowIsBoundByMemory) {
  EXPECT_EQ(row_called(placed_product("1,16384,16384", true), "big").bound, PlaceBound::kMemory);
}

TEST(PlaceProduct, TransferIsBytesOverTheLink) {
  const Placement placement = placed_product("4096,4096,4096");
  const double bytes = 3.0 * 4 * 4096 * 4096;
  const PlacementRow& gpu = row_called(placement, "big");
  EXPECT_NEAR(*gpu.transfer_s, 3 * kHostCopyStart_s + bytes / (3.15e10 * kHostLinkShare), 1e-12);
  EXPECT_FALSE(gpu.host_link_assumed);
  const PlacementRow& tpu = row_called(placement, "round tpu");
  EXPECT_TRUE(tpu.host_link_assumed);
  EXPECT_NEAR(*tpu.transfer_s, 3 * kHostCopyStart_s + bytes / (kUsualHostLink_bytes_per_s * kHostLinkShare), 1e-12);
  EXPECT_EQ(*row_called(placement, "EPYC 7763").transfer_s, 0);
  EXPECT_EQ(*row_called(placed_product("4096,4096,4096", true), "big").transfer_s, 0);
  const Placement given = placed_product("4096,4096,4096", false, 1e12);
  EXPECT_FALSE(row_called(given, "round tpu").host_link_assumed);
  EXPECT_LT(*row_called(given, "big").transfer_s, *gpu.transfer_s);
}

TEST(PlaceProduct, SaysWhatFitsAndWhatCannotCompute) {
  const Placement placement = placed_product("60000,60000,60000");
  const PlacementRow& small = row_called(placement, "small");
  EXPECT_EQ(small.fits, false);
  EXPECT_EQ(small.bound, PlaceBound::kCapacity);
  EXPECT_EQ(small.fits_on, 6);  // 43.2 GB over 7.2
  EXPECT_EQ(row_called(placement, "big").fits, true);
  const PlacementRow& asic = row_called(placement, "round asic");
  EXPECT_FALSE(asic.time_s);
  EXPECT_THAT(asic.note, HasSubstr("fp32"));
}

TEST(PlaceProduct, IntervalsHoldTheirForecast) {
  for (const char* product : {"16,16,16", "4096,4096,4096,fp16", "1,8192,8192"}) {
    for (const PlacementRow& row : placed_product(product).rows) {
      if (!row.time_s) continue;
      EXPECT_LT(*row.lower_s, *row.time_s) << row.device;
      EXPECT_LT(*row.time_s, *row.upper_s) << row.device;
      EXPECT_GE(*row.time_s, *row.transfer_s) << row.device;
    }
  }
}

TEST(PlaceProduct, BreakEvenIsWhereTheForecastsCross) {
  const std::vector<PlaceDevice> devices = testing::round_devices();
  const std::vector<PlaceCpu> cpus = {testing::round_cpu()};
  const auto product = parse_product("4096,4096,4096");
  const ProductPlacer placer({*product, kUnknown, false}, devices, cpus);
  Placement placement = placer.place();
  ASSERT_TRUE(finish_placement({}, placement));
  const auto seconds = [&](const std::string& device, int64_t side) { return placer.at_size(device, side); };
  const auto all =
      find_break_even(placement, seconds, std::pair(std::string("EPYC 7763"), std::string("big")), 4096, kLongestSide);
  ASSERT_TRUE(all);
  ASSERT_FALSE(all->empty());
  const PlaceBreakEven& time = all->front();
  EXPECT_EQ(time.first, cpus[0].name());
  ASSERT_TRUE(time.at);
  EXPECT_GT(*time.at, 64);
  EXPECT_LT(*time.at, 4096);
  EXPECT_LT(seconds("Big GPU", *time.at)->time_s, seconds(cpus[0].name(), *time.at)->time_s);
  EXPECT_GE(seconds("Big GPU", *time.at - 1)->time_s, seconds(cpus[0].name(), *time.at - 1)->time_s);
  EXPECT_EQ(time.limited_by, "Big GPU");
}

TEST(PlaceProduct, EnergyOfAGpuFollowsHowBusyItIs) {
  const std::vector<PlaceCpu> cpus;
  const std::vector<PlaceDevice> devices = testing::round_devices();
  const auto joules = [&](const char* text, bool resident) {
    Placement placement = ProductPlacer({*parse_product(text), kUnknown, resident}, devices, cpus).place();
    EXPECT_TRUE(finish_placement({}, placement));
    return *std::find_if(placement.rows.begin(), placement.rows.end(),
                         [](const PlacementRow& row) { return row.device == "Big GPU"; });
  };
  const PlacementRow square = joules("8192,8192,8192,fp16", true), vector = joules("1,8192,8192,fp16", true),
                     moved = joules("1,8192,8192,fp16", false);
  EXPECT_EQ(square.energy_basis, EnergyBasis::kModelled);
  EXPECT_LE(*square.power_w, 400);
  EXPECT_GT(*square.power_w, *vector.power_w);
  EXPECT_GT(*vector.power_w, *moved.power_w);
  EXPECT_GT(*moved.power_w, 400 * kAwakeShare);
  EXPECT_GT(*moved.energy_joules, *vector.energy_joules);
  EXPECT_LT(*square.energy_lower_joules, *square.energy_joules);
  EXPECT_GT(*square.energy_upper_joules, *square.energy_joules * std::exp(1.64 * kOtherPowerLogDeviation));
}

TEST(PlaceProduct, EnergyOfACpuIsItsBusyCoresShareOfTheTdp) {
  const std::vector<PlaceDevice> devices;
  std::vector<PlaceCpu> cpus = {testing::round_cpu()};
  cpus[0].power = CpuPower{"AMD EPYC 7763", 280, 64, "a data sheet"};
  const auto product = parse_product("4096,4096,4096");
  Placement placement = ProductPlacer({*product, kUnknown, false}, devices, cpus).place();
  ASSERT_TRUE(finish_placement({}, placement));
  const PlacementRow& row = placement.rows[0];
  EXPECT_EQ(row.energy_basis, EnergyBasis::kTdp);
  EXPECT_DOUBLE_EQ(row.power_w.value(), 280.0 / 64 * 16);
  EXPECT_DOUBLE_EQ(row.energy_joules.value(), *row.power_w * *row.time_s);
  EXPECT_LT(*row.energy_lower_joules, *row.energy_joules);
  EXPECT_GT(*row.energy_upper_joules / *row.energy_joules, *row.upper_s / *row.time_s);
  EXPECT_THAT(placement.notes.front(), HasSubstr("TDP-based is the busy cores' share"));
  // As the user knows better.
  PlacementWishes wishes;
  wishes.powers_w = {{"7763", 100}};
  Placement given = ProductPlacer({*product, kUnknown, false}, devices, cpus).place();
  ASSERT_TRUE(finish_placement(wishes, given));
  EXPECT_EQ(given.rows[0].energy_basis, EnergyBasis::kGiven);
  EXPECT_DOUBLE_EQ(given.rows[0].energy_joules.value(), 100 * *given.rows[0].time_s);
  EXPECT_FALSE(given.rows[0].energy_lower_joules);
}

}  // namespace
}  // namespace perfcast::place
