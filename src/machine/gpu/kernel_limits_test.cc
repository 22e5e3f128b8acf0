#include "machine/gpu/kernel_limits.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

DeviceFacts device(double half_flops, double units, double clock_hz) {
  DeviceFacts facts;
  facts.units = units;
  facts.clock_hz = clock_hz;
  facts.peak_flops[static_cast<size_t>(MathMode::kHalf)] = half_flops;
  return facts;
}

TEST(KernelLimits, AStartedWaveCountsWhole) {
  EXPECT_EQ(waves(108, 108), 1);
  EXPECT_EQ(waves(109, 108), 2);
  EXPECT_EQ(waves(1, 108), 1);
  EXPECT_EQ(rounded_up(3.0), 3);
  EXPECT_EQ(rounded_up(3.0001), 4);
  EXPECT_EQ(rounded_up(1e300), 1e300);
}

TEST(KernelLimits, CostsHideEachOther) {
  EXPECT_DOUBLE_EQ(overlapped(3, 4, 2), 5);
  EXPECT_DOUBLE_EQ(overlapped(4, 3, 1), 7);
  EXPECT_EQ(overlapped(4, 0, 2), 4);
  EXPECT_NEAR(overlapped(4, 3, 60), 4, 1e-6);
}

TEST(KernelLimits, TheCacheServesWhatFits) {
  EXPECT_EQ(cached_share(5e6, 5e6, 8), 0.5);
  EXPECT_GT(cached_share(1e6, 5e6, 8), 0.999);
  EXPECT_LT(cached_share(25e6, 5e6, 8), 0.001);
  EXPECT_EQ(cached_share(1, 0, 8), 0);  // not known
}

TEST(KernelLimits, MatrixUnitsAreToldApartByTheirRate) {
  EXPECT_TRUE(has_self_feeding_matrix_units(device(989.4e12, 132, 1.98e9)));   // H100
  EXPECT_TRUE(has_self_feeding_matrix_units(device(835.5e12, 132, 1.785e9)));  // H100 NVL
  EXPECT_TRUE(has_self_feeding_matrix_units(device(2250e12, 148, 1.965e9)));   // B200
  EXPECT_FALSE(has_self_feeding_matrix_units(device(312e12, 108, 1.41e9)));    // A100
  EXPECT_FALSE(has_self_feeding_matrix_units(device(480e12, 188, 2.49e9)));    // RTX PRO 6000
  EXPECT_FALSE(has_self_feeding_matrix_units(device(kUnknown, 188, 2.49e9)));
}

}  // namespace
}  // namespace perfcast
