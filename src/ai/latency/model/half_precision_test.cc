#include "ai/latency/model/half_precision.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/latency/model/device_catalogue.h"
#include "ai/latency/model/half_precision_file.h"
#include "base/random.h"

namespace perfcast::ai {
namespace {

DeviceFacts invented(double units, double bandwidth) {
  DeviceFacts facts;
  facts.name = "Invented";
  facts.units = units;
  facts.clock_hz = 1e9;
  facts.memory_bytes_per_s = bandwidth;
  facts.link_bytes_per_s = 1e11;
  facts.peak_flops[static_cast<size_t>(MathMode::kHalf)] = units * 1e12;
  facts.peak_flops[static_cast<size_t>(MathMode::kFp8)] = units * 2e12;
  return facts;
}

// Nothing but compute in whole waves at the peak, and memory.
HalfPrecisionParameters ideal() {
  HalfPrecisionParameters parameters;
  parameters.start_s = 0;
  parameters.compute_efficiency = 1;
  parameters.prologue_bytes = 0;
  parameters.memory_efficiency = 1;
  parameters.whole_wave_share = 1;
  parameters.cache_bytes_per_cycle = 1e6;
  parameters.split_traffic = 0;
  parameters.streaming_share = 1e-3;
  parameters.power_drop = 0;
  return parameters;
}

double seconds(const HalfPrecisionModel& model, double m, double k, double n, MathMode mode = MathMode::kHalf,
               double bytes_per_weight = 2) {
  return model.product({1, m, k, n, true}, mode, bytes_per_weight * k * n).seconds;
}

DeviceCatalogue devices() {
  const auto catalogue = read_device_catalogue(PERFCAST_SOURCE_DIR "/data/devices/devices.json");
  EXPECT_TRUE(catalogue) << to_text(catalogue.error());
  return catalogue ? *catalogue : DeviceCatalogue{};
}

HalfPrecisionBundle shipped() {
  const auto bundle = read_half_precision(PERFCAST_SOURCE_DIR "/data/bundles/half-precision.json");
  EXPECT_TRUE(bundle) << to_text(bundle.error());
  return bundle ? *bundle : HalfPrecisionBundle{};
}

TEST(HalfPrecision, OneTileTakesItsOperations) {
  const auto model = HalfPrecisionModel::with_parameters(invented(1, 1e15), ideal());
  const double tile = 2.0 * 64 * 128 * 1024 / 1e12;
  EXPECT_NEAR(seconds(model, 64, 1024, 128), tile, 1e-4 * tile);
  EXPECT_NEAR(seconds(model, 1, 1024, 128), tile, 1e-4 * tile);  // a tile is computed whole
  EXPECT_NEAR(seconds(model, 65, 1024, 128), 2 * tile, 1e-4 * tile);
  EXPECT_NEAR(seconds(model, 64, 1024, 128, MathMode::kFp8, 1), tile / 2, 1e-4 * tile);
  EXPECT_EQ(model.product({1, 64, 1024, 128, true}, MathMode::kHalf, 262144).bound, Bound::kCompute);
  // One row of it is 0.26 us of operations and 6.8 us of packed weights: the tile's 17 us are not its arithmetic.
  const auto slow = HalfPrecisionModel::with_parameters(invented(1, 1e10), ideal());
  EXPECT_EQ(slow.product({1, 1, 1024, 128, true}, MathMode::kHalf, 65536).bound, Bound::kMemory);
}

// Five tiles on four units: two waves; with k in 2 parts three waves of a half, with k in 4 parts five of a quarter,
// with 8 parts ten of an eighth.
TEST(HalfPrecision, PartsOfKFillTheWaves) {
  const auto model = HalfPrecisionModel::with_parameters(invented(4, 1e15), ideal());
  const double tile = 2.0 * 64 * 128 * 1024 / 1e12;
  EXPECT_NEAR(seconds(model, 64, 1024, 5 * 128), 1.25 * tile, 1e-4 * tile);
  // Where each part has to fill its pipeline anew, k of 1024 as long as filling it: 2 x 2, 3 x 1.5, 5 x 1.25, 10
  // x 1.125.
  HalfPrecisionParameters parameters = ideal();
  parameters.prologue_bytes = 2048;
  const auto filling = HalfPrecisionModel::with_parameters(invented(4, 1e15), parameters);
  EXPECT_NEAR(seconds(filling, 64, 1024, 5 * 128), 4 * tile, 1e-4 * tile);
}

TEST(HalfPrecision, SmallProductsStreamTheirWeights) {
  HalfPrecisionParameters parameters = ideal();
  parameters.start_s = 5e-6;
  parameters.memory_efficiency = 0.8;
  const auto model = HalfPrecisionModel::with_parameters(invented(100, 1e11), parameters);
  const double bytes = 2.0 * 4096 * 4096 + 2 * 4096 + 2 * 4096;
  EXPECT_NEAR(seconds(model, 1, 4096, 4096), 5e-6 + bytes / 0.8e11, 1e-8);
  EXPECT_EQ(model.product({1, 1, 4096, 4096, true}, MathMode::kHalf, 2.0 * 4096 * 4096).bound, Bound::kMemory);
  // Weights of four bits take a quarter of it.
  EXPECT_NEAR(seconds(model, 1, 4096, 4096, MathMode::kHalf, 0.5), 5e-6 + (0.5 * 4096 * 4096 + 16384) / 0.8e11, 1e-7);
  // Attention's right matrix has the bytes of the mode, whatever weight_bytes says.
  EXPECT_EQ(model.product({1, 1, 4096, 4096, false}, MathMode::kHalf, 7).seconds, seconds(model, 1, 4096, 4096));
  EXPECT_EQ(model.product({1, 1, 64, 64, true}, MathMode::kHalf, 8192).bound, Bound::kStart);
}

TEST(HalfPrecision, VectorsAndAllReducesAreTheirFormulas) {
  HalfPrecisionParameters parameters = ideal();
  parameters.vector.fill({3e-6, 10});
  parameters.link_start_s = 1e-5;
  parameters.link_step_s = 1e-6;
  parameters.link_efficiency = 0.5;
  const auto model = HalfPrecisionModel::with_parameters(invented(100, 1e12), parameters);
  // 4e6 values of 2 bytes, read and written: 16 us of memory, 16 us of moving at 100 x 1e9 x 10 bytes/s.
  const OperatorTime norm = model.vector({VectorKind::kNorm, 1000, 4000}, 2);
  EXPECT_NEAR(norm.seconds, std::sqrt(9.0 + 256 + 256) * 1e-6, 1e-12);
  EXPECT_NEAR(model.vector({VectorKind::kBinary, 1000, 4000}, 2).seconds, std::sqrt(9.0 + 2 * 576) * 1e-6, 1e-12);
  EXPECT_EQ(model.vector({VectorKind::kCopy, 1, 10}, 2).bound, Bound::kStart);
  EXPECT_EQ(model.vector({VectorKind::kCopy, 0, 10}, 2).seconds, 0);
  EXPECT_NEAR(model.all_reduce_seconds(1e6, 4), 1e-5 + 3e-6 + 1.5 * 1e6 / 0.5e11, 1e-12);
  EXPECT_EQ(model.all_reduce_seconds(1e6, 1), 0);
}

TEST(HalfPrecision, EmptyAndUnsupportedProducts) {
  const auto model = HalfPrecisionModel::with_parameters(invented(4, 1e12), ideal());
  EXPECT_EQ(model.product({1, 0, 64, 64, true}, MathMode::kHalf, 0).seconds, 0);
  EXPECT_TRUE(std::isnan(model.product({1, 1, 64, 64, true}, MathMode::kTf32, 0).seconds));
  EXPECT_FALSE(model.supports(MathMode::kTf32));
  EXPECT_TRUE(model.supports(MathMode::kFp8));
}

// What holds for every shape: more work takes no less time, and nothing is faster than the roofline.
TEST(HalfPrecision, GrowsWithEachSizeAndStaysAboveTheRoofline) {
  const HalfPrecisionBundle bundle = shipped();
  Random random(1);
  const auto size = [&] { return std::floor(std::exp2(random.uniform(0, 14))); };
  const DeviceCatalogue catalogue = devices();
  int checked = 0;
  for (const DeviceFacts& device : catalogue.devices) {
    const auto model = HalfPrecisionModel::for_device(device, bundle);
    if (!model) continue;
    for (size_t i = 0; i < kMathModes; ++i) {
      const auto mode = static_cast<MathMode>(i);
      if (!model->supports(mode)) continue;
      const double input = mode == MathMode::kTf32 ? 4 : mode == MathMode::kHalf ? 2 : 1;
      for (int trial = 0; trial < 60; ++trial) {
        const ProductShape shape = {std::floor(size() / 1000) + 1, size(), size(), size(), trial % 2 == 0};
        const double weights = input * shape.batch * shape.k * shape.n;
        const double time = model->product(shape, mode, weights).seconds;
        const double flop = 2 * shape.batch * shape.m * shape.k * shape.n;
        ASSERT_GE(time, flop / device.peak(mode)) << device.name;
        ASSERT_GE(time, (weights + input * shape.batch * shape.m * shape.k) / device.memory_bytes_per_s) << device.name;
        for (const double step : {1.0, 37.0, 128.0}) {
          const ProductShape taller = {shape.batch, shape.m + step, shape.k, shape.n, shape.weights};
          const ProductShape deeper = {shape.batch, shape.m, shape.k + step, shape.n, shape.weights};
          const ProductShape wider = {shape.batch, shape.m, shape.k, shape.n + step, shape.weights};
          const ProductShape more = {shape.batch + step, shape.m, shape.k, shape.n, shape.weights};
          for (const ProductShape& larger : {taller, deeper, wider, more}) {
            const double longer = model->product(larger, mode, input * larger.batch * larger.k * larger.n).seconds;
            ASSERT_GE(longer, time * (1 - 1e-12))
                << device.name << " " << larger.batch << " " << larger.m << " " << larger.k << " " << larger.n;
            ++checked;
          }
        }
      }
    }
  }
  EXPECT_GT(checked, 50000);
}

TEST(HalfPrecision, DevicesWithoutMeasurementsTakeTheirKins) {
  const HalfPrecisionBundle bundle = shipped();
  const DeviceCatalogue catalogue = devices();
  const auto model = [&](std::string_view name) {
    const auto device = find_device(catalogue, name);
    EXPECT_TRUE(device) << name;
    return HalfPrecisionModel::for_device(**device, bundle);
  };
  const auto kin = [&](std::string_view name) {
    const auto made = model(name);
    return made ? made->kin() : made.error().code;
  };
  EXPECT_EQ(kin("a100"), "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(kin("a100-pcie-40gb"), "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(kin("h200"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(kin("b200"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(kin("l40s"), "NVIDIA A40");
  EXPECT_EQ(kin("t4"), "NVIDIA A40");
  EXPECT_EQ(kin("mi300x"), "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(kin("p100"), "missing-fact");  // it has no units for any mode but fp32

  EXPECT_TRUE(model("a100")->calibrated());
  EXPECT_FALSE(model("a100")->calibrated(MathMode::kInt8));
  EXPECT_FALSE(model("h200")->calibrated());
  EXPECT_GT(model("h200")->log_error(), model("h100")->log_error());
  // Its memory is 4800 / 3352 as fast: so nearly are its small products, but for the start.
  const double start = model("h100")->parameters().start_s;
  const double ratio =
      (seconds(*model("h100"), 1, 8192, 57344) - start) / (seconds(*model("h200"), 1, 8192, 57344) - start);
  EXPECT_GT(ratio, 1.35);
  EXPECT_LT(ratio, 4800.0 / 3352);
  // Without a clock there is a time all the same; without all-reduces of its own there is its kin's law.
  EXPECT_GT(seconds(*model("tpu-v5e"), 512, 4096, 4096), 0);
  EXPECT_GT(model("a40")->all_reduce_seconds(1e6, 2), 2e-5);
  EXPECT_TRUE(std::isnan(model("inferentia2")->all_reduce_seconds(1e6, 2)));
  EXPECT_FALSE(HalfPrecisionModel::for_device(invented(1, 1e9), HalfPrecisionBundle{}));
}

}  // namespace
}  // namespace perfcast::ai
