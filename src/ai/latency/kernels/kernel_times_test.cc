#include "ai/latency/kernels/kernel_times.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai {
namespace {

DeviceFacts facts(const char* name, const char* generation, double half_flops = 200e12) {
  DeviceFacts device;
  device.name = name;
  device.generation = generation;
  device.units = 100;
  device.clock_hz = 1e9;
  device.memory_bytes_per_s = 1e12;
  device.l2_bytes = 40e6;
  device.peak_flops[static_cast<size_t>(MathMode::kHalf)] = half_flops;
  return device;
}

std::shared_ptr<KernelBundle> bundle() {
  auto made = std::make_shared<KernelBundle>();
  KernelEntry& entry = made->entry(KernelKind::kProduct, KernelFormat::kHalf);
  entry.known = true;
  entry.constants = usual_kernel_constants(KernelKind::kProduct);
  entry.spread = {0.2, 0.8, 0.3, 0.1, 0.05, 1};
  KernelDonor donor{"Donor", "ampere", *KernelDevice::of(facts("Donor", "ampere")), {}};
  donor.residuals.add(product_kernel(64, 4096, 4096), 0.5);
  donor.residuals.finish();
  made->donors.push_back(std::move(donor));
  return made;
}

TEST(KernelTimes, AUsersOwnAreGivenBack) {
  const std::vector<TimedKernel> timed = {{product_kernel(16, 4096, 4096), 40e-6},
                                          {product_kernel(64, 4096, 4096), 50e-6}};
  const KernelTimes times(facts("Own", "ampere"), nullptr, timed);
  EXPECT_NEAR(times.time(product_kernel(16, 4096, 4096), Operands::kRepeated)->seconds, 40e-6, 1e-11);
  EXPECT_NEAR(times.time(product_kernel(64, 4096, 4096), Operands::kRepeated)->seconds, 50e-6, 1e-11);
  EXPECT_TRUE(times.time(product_kernel(64, 4096, 4096))->measured);
  EXPECT_TRUE(times.time(product_kernel(256, 4096, 4096))->measured);
  EXPECT_FALSE(times.time(product_kernel(512, 4096, 4096))->measured);
  EXPECT_FALSE(times.time({KernelKind::kPrefill, KernelFormat::kHalf, {1, 512, 32, 8, 128, 0}}));
  EXPECT_EQ(times.timed(), 2u);
}

TEST(KernelTimes, WithoutFactsLogsOfTimesAreInterpolated) {
  DeviceFacts lacking = facts("Own", "ampere");
  lacking.clock_hz = kUnknown;
  const std::vector<TimedKernel> timed = {{product_kernel(16, 64, 64), 4e-6}, {product_kernel(64, 64, 64), 16e-6}};
  const KernelTimes times(lacking, nullptr, timed);
  EXPECT_NEAR(times.time(product_kernel(32, 64, 64))->seconds, 8e-6, 1e-11);
  EXPECT_TRUE(times.time(product_kernel(128, 64, 64)));
  EXPECT_FALSE(times.time(product_kernel(256, 64, 64)));  // four times the largest: nothing says how it goes on
}

TEST(KernelTimes, AMeasuredDeviceUsesItsMeasurements) {
  const KernelTimes times(facts("Donor", "ampere"), bundle(), {});
  const auto device = *KernelDevice::of(facts("Donor", "ampere"));
  const KernelShape shape = product_kernel(64, 4096, 4096);
  const double form = kernel_seconds(usual_kernel_constants(KernelKind::kProduct), device, shape, Operands::kInMemory);
  const auto time = times.time(shape);
  EXPECT_NEAR(time->seconds, form * std::exp(0.5), 1e-9 * form);
  EXPECT_TRUE(time->measured);
  EXPECT_EQ(time->log_sd, 0.05);
}

TEST(KernelTimes, AnotherTakesOfItsKinWhatTheyShare) {
  const KernelShape shape = product_kernel(64, 4096, 4096);
  const KernelTimes kin(facts("Kin", "ampere"), bundle(), {});
  const KernelTimes stranger(facts("Stranger", "hopper", 400e12), bundle(), {});
  const double form = kernel_seconds(usual_kernel_constants(KernelKind::kProduct),
                                     *KernelDevice::of(facts("Kin", "ampere")), shape, Operands::kInMemory);
  const auto time = kin.time(shape);
  EXPECT_NEAR(std::log(time->seconds / form), 0.5 * 0.8 / 1.05, 1e-6);
  EXPECT_FALSE(time->measured);
  EXPECT_NEAR(time->log_sd, 0.2 * std::sqrt(1 - 0.8 * 0.8 / 1.05), 1e-6);
  EXPECT_GT(stranger.time(shape)->log_sd, time->log_sd);
}

TEST(KernelTimes, WeightsOfDonors) {
  const KernelDevice ampere = *KernelDevice::of(facts("a", "ampere"));
  const KernelDevice hopper = *KernelDevice::of(facts("h", "hopper", 400e12));
  const KernelSpread spread{0.2, 0.9, 0.4, 0.2, 0.05, 1};
  EXPECT_EQ(kernel_correlation(spread, ampere, ampere), 0.9);
  EXPECT_EQ(kernel_correlation(spread, ampere, hopper), 0.2);
  const KernelDevice* donors[] = {&ampere, &ampere};
  const auto weights = kriging_weights(spread, ampere, donors);
  EXPECT_NEAR(weights.weights[0], 0.9 / 1.95, 1e-9);  // two equals share
  EXPECT_NEAR(weights.weights[1], 0.9 / 1.95, 1e-9);
  EXPECT_NEAR(weights.left, 1 - 2 * 0.81 / 1.95, 1e-9);
}

}  // namespace
}  // namespace perfcast::ai
