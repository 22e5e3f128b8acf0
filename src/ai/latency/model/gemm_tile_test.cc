#include "ai/latency/model/gemm_tile.h"

#include <gtest/gtest.h>

#include "ai/latency/model/test_gpu.h"
#include "base/random.h"

namespace perfcast::ai {
namespace {

// With nothing but arithmetic left, the time is tiles in waves at the peak of a unit.
TEST(GemmTile, ArithmeticOfWholeWaves) {
  TileKernel kernel = usual_kernel(128, 64);
  kernel[TileTerm::kEfficiency] = 1;
  kernel[TileTerm::kPrologue] = 0;
  kernel[TileTerm::kTail] = 0;
  kernel[TileTerm::kThrottle] = kernel[TileTerm::kSpanSlowdown] = 0;
  kernel[TileTerm::kWholeWaves] = 1e12;  // a started wave is a whole one
  const DeviceRates rates{50, 10e12, 1e18, 4e6};
  // 8 x 8 tiles on 50 units: two waves of one tile each.
  const TileTime time = tile_time(kernel, rates, {1, 512, 1000, 1024, true}, 1);
  EXPECT_NEAR(time.compute_s, 2 * 128.0 * 64 * 1000 / (10e12 / 50) * 2, 1e-12);
  EXPECT_NEAR(time.seconds, time.compute_s, 1e-9 * time.compute_s);
  // One tile still takes a wave; k cut in two halves the work of each and doubles the tiles.
  const TileTime one = tile_time(kernel, rates, {1, 64, 1000, 128, true}, 1);
  EXPECT_NEAR(one.compute_s, time.compute_s / 2, 1e-12);
  EXPECT_NEAR(tile_time(kernel, rates, {1, 64, 1000, 128, true}, 2).compute_s, one.compute_s / 2, 1e-12);
}

TEST(GemmTile, CompulsoryBytes) {
  TileKernel kernel = usual_kernel(128, 64);
  kernel[TileTerm::kStreamRate] = 1;
  const DeviceRates rates{50, 1e18, 500e9, 4e6};
  const TileTime time = tile_time(kernel, rates, {3, 100, 200, 300, false}, 1);
  EXPECT_DOUBLE_EQ(time.memory_s, 3 * 4.0 * (100 * 200 + 200 * 300 + 100 * 300) / 500e9);
  // Every further part of k writes its sums and has them read again.
  const TileTime split = tile_time(kernel, rates, {3, 100, 200, 300, false}, 2);
  EXPECT_DOUBLE_EQ(split.memory_s - time.memory_s, 3 * 4.0 * 2 * 100 * 300 / 500e9);
}

TEST(GemmTile, MisalignedRowsCostMore) {
  const TileKernel kernel = usual_kernel(128, 64);
  const DeviceRates rates = rates_of(test_device(), MathMode::kFp32);
  EXPECT_GT(tile_time(kernel, rates, {1, 4096, 1025, 4096, true}, 1).seconds,
            1.01 * tile_time(kernel, rates, {1, 4096, 1024, 4096, true}, 1).seconds);
}

TEST(GemmTile, MoreWorkIsNeverFaster) {
  Random random(3);
  const DeviceRates rates = rates_of(test_device(), MathMode::kFp32);
  const TileKernel kernel = usual_kernel(128, 64);
  for (int i = 0; i < 2000; ++i) {
    const auto size = [&] { return 8.0 * static_cast<double>(1 + random.below(500)); };
    const ProductShape shape{static_cast<double>(1 + random.below(20)), size(), size(), size(), false};
    ProductShape more = shape;
    more.k *= 2;
    EXPECT_GE(tile_time(kernel, rates, more, 1).seconds, tile_time(kernel, rates, shape, 1).seconds);
    more = shape;
    more.batch *= 2;
    EXPECT_GE(tile_time(kernel, rates, more, 1).seconds, tile_time(kernel, rates, shape, 1).seconds);
  }
}

}  // namespace
}  // namespace perfcast::ai
