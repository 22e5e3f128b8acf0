#include "studies/kernels/kernel_evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace perfcast::ai::kernels_study {
namespace {

DeviceFacts facts(int number) {
  DeviceFacts device;
  device.name = "device" + std::to_string(number);
  device.generation = number < 2 ? "ampere" : "ada";
  device.units = 60 + 20 * number;
  device.clock_hz = 1e9 + 2e8 * number;
  device.memory_bytes_per_s = (1 + 0.3 * number) * 1e12;
  device.l2_bytes = 40e6;
  device.peak_flops[static_cast<size_t>(MathMode::kHalf)] = device.units * device.clock_hz * 1024;
  return device;
}

// Four devices whose kernels obey the form, each times a factor of its own.
KernelRows world(double factor) {
  KernelRows rows;
  KernelConstants constants = usual_kernel_constants(KernelKind::kDecode);
  for (int d = 0; d < 4; ++d) {
    rows.facts.push_back(facts(d));
    rows.devices.push_back({facts(d).name, *KernelDevice::of(facts(d)), {}});
    for (const double batch : {1, 2, 4, 8, 16, 32}) {
      for (const double length : {16, 64, 256, 1024, 4096, 16384}) {
        for (const double heads : {8, 16, 32, 64}) {
          for (const double kv_heads : {1, 4, 8}) {
            const KernelShape shape{KernelKind::kDecode, KernelFormat::kHalf, {batch, length, heads, kv_heads, 128, 0}};
            const double form = kernel_seconds(constants, rows.devices.back().device, shape, Operands::kRepeated);
            rows.devices.back().samples.push_back({shape, form * std::pow(factor, d % 2 == 0 ? 1 : -1)});
          }
        }
      }
    }
  }
  rows.kind = KernelKind::kDecode;
  return rows;
}

const KernelScore* find(const std::vector<KernelScore>& scores, const char* split, const char* predictor) {
  const auto found = std::find_if(scores.begin(), scores.end(), [&](const KernelScore& score) {
    return score.split == split && score.predictor == predictor && score.part == "all";
  });
  return found == scores.end() ? nullptr : &*found;
}

TEST(KernelEvaluation, FindsTheFormThatMadeTheTimes) {
  const auto evaluation = evaluate_kernels(world(1));
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  const KernelScore* device = find(evaluation->scores, kDeviceOut, kOurs);
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->n, 4 * 432);
  EXPECT_LT(device->mean_error, 0.005);
  EXPECT_GT(find(evaluation->scores, kDeviceOut, kTwoConstants)->mean_error, 0.05);
  EXPECT_LT(find(evaluation->scores, kShapeOut, kOurs)->mean_error, 0.005);
  EXPECT_GT(find(evaluation->scores, kShapeOut, kLookUp)->mean_error, 0.01);
}

TEST(KernelEvaluation, DevicesThatDifferAreHeldByTheIntervals) {
  const auto evaluation = evaluate_kernels(world(1.2));
  ASSERT_TRUE(evaluation);
  const KernelScore* device = find(evaluation->scores, kDeviceOut, kOurs);
  EXPECT_GT(device->mean_error, 0.1);
  EXPECT_LT(device->mean_error, 0.5);
  EXPECT_GT(device->coverage, 0.5);
  EXPECT_GT(evaluation->entry.spread.log_sd, 0.1);
}

TEST(KernelEvaluation, SamplesAreTheSameOfEveryDevice) {
  const KernelRows rows = world(1);
  const auto a = sampled(rows.devices[0].samples, 100), b = sampled(rows.devices[1].samples, 100);
  ASSERT_EQ(a.size(), b.size());
  EXPECT_GT(a.size(), 60u);
  EXPECT_LT(a.size(), 140u);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].shape, b[i].shape);
}

}  // namespace
}  // namespace perfcast::ai::kernels_study
