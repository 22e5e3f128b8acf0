#include "ai/latency/fit/kernel_fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai {
namespace {

DeviceFacts facts(double units, double clock_hz, const char* generation, double flops_per_cycle = 1024) {
  DeviceFacts device;
  device.generation = generation;
  device.units = units;
  device.clock_hz = clock_hz;
  device.memory_bytes_per_s = units * 1e10;
  device.l2_bytes = 40e6;
  device.peak_flops[static_cast<size_t>(MathMode::kHalf)] = units * clock_hz * flops_per_cycle;
  return device;
}

KernelFitDevice timed(const DeviceFacts& device, const KernelConstants& constants, double factor) {
  KernelFitDevice result{device.name, *KernelDevice::of(device), {}};
  for (const double m : {1, 16, 64, 256, 1024, 4096}) {
    for (const double n : {64, 512, 2048, 8192}) {
      for (const double k : {64, 512, 2048, 8192}) {
        const KernelShape shape{KernelKind::kProduct, KernelFormat::kHalf, {m, n, k}};
        result.samples.push_back(
            {shape, factor * kernel_seconds(constants, result.device, shape, Operands::kRepeated)});
      }
    }
  }
  return result;
}

TEST(KernelFit, ProductsFindTheirConstants) {
  KernelConstants truth = usual_kernel_constants(KernelKind::kProduct);
  truth[0] = 8000;  // floor
  truth[3] = 0.7;   // share of the bandwidth
  const KernelFitDevice a = timed(facts(100, 1.4e9, "ampere"), truth, 1), b = timed(facts(60, 2e9, "ada"), truth, 1);
  const KernelFitDevice* devices[] = {&a, &b};
  const auto constants = fit_kernel_constants(KernelKind::kProduct, devices);
  ASSERT_TRUE(constants) << to_text(constants.error());
  for (const double residual : kernel_log_residuals(*constants, a)) EXPECT_NEAR(residual, 0, 0.05);
  EXPECT_NEAR((*constants)[0], 8000, 500);
  EXPECT_NEAR((*constants)[3], 0.7, 0.03);
}

TEST(KernelFit, SpreadSaysHowAlikeDevicesAre) {
  const KernelConstants constants = usual_kernel_constants(KernelKind::kProduct);
  const double factor = std::exp(0.2);
  const KernelFitDevice a = timed(facts(100, 1.4e9, "ampere"), constants, factor);
  const KernelFitDevice b = timed(facts(80, 1.4e9, "ampere"), constants, factor);
  const KernelFitDevice c = timed(facts(60, 2e9, "ada"), constants, 1 / factor);
  const KernelFitDevice d = timed(facts(130, 1.9e9, "hopper", 4096), constants, factor);
  const KernelFitDevice* devices[] = {&a, &b, &c, &d};
  const KernelSpread spread = fit_kernel_spread(constants, devices);
  EXPECT_NEAR(spread.log_sd, 0.2, 1e-9);
  EXPECT_EQ(spread.same_generation, 0.95);        // one, held below it
  EXPECT_NEAR(spread.other, 1.0 / 3, 1e-9);       // a and b with d are alike, c is not
  EXPECT_NEAR(spread.same_class, 1.0 / 3, 1e-9);  // c is unlike a and b: no less than other
  EXPECT_EQ(kernel_device_weights(devices)[0], 1 / std::sqrt(2.0));
  EXPECT_EQ(kernel_device_weights(devices)[2], 1);
}

TEST(KernelFit, NothingToFit) {
  const KernelFitDevice none{"none", *KernelDevice::of(facts(60, 2e9, "ada")), {}};
  const KernelFitDevice* devices[] = {&none};
  EXPECT_EQ(fit_kernel_constants(KernelKind::kDecode, devices).error().code, "bad-fit");
}

}  // namespace
}  // namespace perfcast::ai
