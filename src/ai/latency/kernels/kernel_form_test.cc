#include "ai/latency/kernels/kernel_form.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai {
namespace {

// A round device: 100 units at 1 GHz, 1 TB/s, 200 TFLOP/s.
DeviceFacts facts() {
  DeviceFacts device;
  device.name = "Round";
  device.generation = "ampere";
  device.units = 100;
  device.clock_hz = 1e9;
  device.memory_bytes_per_s = 1e12;
  device.l2_bytes = 40e6;
  device.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 200e12;
  return device;
}

double seconds(const KernelShape& shape, Operands operands = Operands::kInMemory) {
  return kernel_seconds(usual_kernel_constants(shape.kind), *KernelDevice::of(facts()), shape, operands);
}

TEST(KernelForm, DevicesNeedTheirFacts) {
  const auto device = KernelDevice::of(facts());
  ASSERT_TRUE(device);
  EXPECT_FALSE(device->self_feeding);  // 2,000 FLOP a cycle and unit
  EXPECT_TRUE(std::isnan(device->flop_s[static_cast<size_t>(KernelFormat::kFp8)]));
  DeviceFacts lacking = facts();
  lacking.clock_hz = kUnknown;
  EXPECT_FALSE(KernelDevice::of(lacking));
  lacking = facts();
  lacking.kind = DeviceKind::kCpu;
  EXPECT_FALSE(KernelDevice::of(lacking));
}

TEST(KernelForm, ProductsNeverBeatTheRoofline) {
  for (const double m : {1.0, 64.0, 4096.0, 65536.0}) {
    for (const double n : {64.0, 4096.0, 65536.0}) {
      const KernelShape shape = product_kernel(m, n, 4096);
      EXPECT_GE(seconds(shape), kernel_flops(shape) / 200e12);
      EXPECT_GE(seconds(shape), kernel_bytes(shape) / 1e12);
      EXPECT_LE(seconds(product_kernel(m, n, 2048)), seconds(shape));
    }
  }
}

TEST(KernelForm, ATileMoreThanUnitsIsAnotherWave) {
  KernelConstants constants{};
  constants[2] = constants[3] = 1;         // shares
  constants[7] = 1;                        // gain of the cache
  constants[4] = 0;                        // every tile computes at the peak
  constants[8] = 1000, constants[10] = 1;  // a prologue of 1 us
  const auto device = *KernelDevice::of(facts());
  // 128 x 256 tiles of one step are 100 at m = 1280, n = 2560: 1 us of prologue, 2.1 us of products.
  const auto one = kernel_seconds(constants, device, product_kernel(1280, 2560, 64), Operands::kInMemory);
  const double memory_s = kernel_bytes(product_kernel(1280, 2560, 64)) / 1e12;
  EXPECT_NEAR(one - memory_s, 1e-6 + 2.0 * 128 * 256 * 64 / 2e12, 1e-12);
}

TEST(KernelForm, RepeatedProductsStayInTheCache) {
  EXPECT_LT(seconds(product_kernel(1, 1024, 1024), Operands::kRepeated), seconds(product_kernel(1, 1024, 1024)));
  EXPECT_NEAR(seconds(product_kernel(1, 16384, 16384), Operands::kRepeated), seconds(product_kernel(1, 16384, 16384)),
              1e-9);
}

TEST(KernelForm, WindowsAndContextsOfAttention) {
  const auto prefill = [](double length, double window) {
    return seconds({KernelKind::kPrefill, KernelFormat::kHalf, {1, length, 32, 8, 128, window}});
  };
  EXPECT_LT(prefill(8192, 1024), prefill(8192, 0));
  EXPECT_EQ(prefill(512, 1024), prefill(512, 0));
  const KernelShape shape{KernelKind::kDecode, KernelFormat::kHalf, {8, 4096, 32, 8, 128, 0}};
  EXPECT_EQ(kernel_bytes(shape), 8 * 128 * (2.0 * 8 * 4096 * 2 + 4 * 32));
  EXPECT_EQ(kernel_flops(shape), 4.0 * 8 * 32 * 128 * 4096);
  EXPECT_GE(seconds(shape), kernel_bytes(shape) / 1e12);
}

TEST(KernelForm, ExpertsReadWhatTheirTokensVisit) {
  const auto experts = [](double tokens, double parallel, double skew = 0) {
    return KernelShape{KernelKind::kExperts, KernelFormat::kHalf, {tokens, 2048, 768, 8, 128, 1, parallel, skew}};
  };
  const double one = 3.0 * 2048 * 768 * 2;
  EXPECT_NEAR(kernel_bytes(experts(1e6, 1)), 128 * one, 1);
  EXPECT_NEAR(kernel_bytes(experts(1e6, 8)), 16 * one, 1);
  EXPECT_NEAR(kernel_bytes(experts(1, 1)) / one, 8, 1e-9);
  EXPECT_NEAR(kernel_bytes(experts(1, 1, 1.2)) / one, 8, 1e-9);
  EXPECT_NEAR(kernel_bytes(experts(16, 1)) / one, 128, 1e-9);  // in turn
  EXPECT_NEAR(kernel_bytes(experts(16, 1, 1.2)) / one, 8 + 120 * (1 - std::exp(-0.8 * 120 / 128)), 1e-9);
  EXPECT_LT(seconds(experts(16, 1)), seconds(experts(4096, 1)));
}

TEST(KernelForm, NoTimeInAFormatWithoutUnits) {
  KernelShape shape = product_kernel(64, 64, 64);
  shape.format = KernelFormat::kFp8;
  EXPECT_FALSE(std::isfinite(seconds(shape)));
}

}  // namespace
}  // namespace perfcast::ai
