#include "ai/latency/model/kin.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/latency/model/test_gpu.h"

namespace perfcast::ai {
namespace {

GpuModels fitted(const std::string& name, const std::string& generation, double process_nm, double watts) {
  GpuModels models = test_models();
  models.fitted_on = models.device.name = name;
  models.device.generation = generation;
  models.device.process_nm = process_nm;
  models.device.power_w = watts;
  return models;
}

TEST(Kin, PowerHoldsABoardThatPromisesTooMuch) {
  DeviceFacts device = test_device();  // 10 TFLOP/s for 250 W at 16 nm: 40 GFLOP per joule
  EXPECT_DOUBLE_EQ(sustained_share(device, 50e9), 1);
  EXPECT_DOUBLE_EQ(sustained_share(device, 20e9), 0.5);
  device.process_nm = 7;  // the same promise is worth 16 GFLOP per joule at 16 nm
  EXPECT_DOUBLE_EQ(sustained_share(device, 20e9), 1);
  device.power_w = kUnknown;
  EXPECT_DOUBLE_EQ(sustained_share(device, 20e9), 1);
}

TEST(Kin, AJouleIsWorthWhatPowerLimitedBoardsMadeOfIt) {
  // The thrifty board promises 4 times as much per watt; what it reaches counts, and nothing of the other.
  const std::vector<GpuModels> both = {fitted("big", "a", 16, 250), fitted("small", "a", 16, 62.5)};
  const double reached = flops_per_joule_16nm(both);
  EXPECT_GT(reached, 10e12 / 62.5 * 0.7);
  EXPECT_LT(reached, 10e12 / 62.5);
  EXPECT_EQ(flops_per_joule_16nm({}), 0);
}

TEST(Kin, NearestIsTheSameGenerationThenTheNearestProcess) {
  const std::vector<GpuModels> all = {fitted("old", "a", 16, 250), fitted("mid", "b", 12, 250),
                                      fitted("new", "c", 7, 250)};
  DeviceFacts device = test_device();
  device.generation = "b";
  device.process_nm = 7;
  EXPECT_EQ(nearest_kin(device, all)->fitted_on, "mid");
  device.generation = "d";
  device.process_nm = 5;
  EXPECT_EQ(nearest_kin(device, all)->fitted_on, "new");
  std::vector<GpuModels> none = {GpuModels{}};
  EXPECT_EQ(nearest_kin(device, none), nullptr);
}

TEST(Kin, UnlikenessIsOneRuleForAllModes) {
  DeviceFacts a = test_device(), b = test_device();
  a.peak_flops[static_cast<size_t>(MathMode::kHalf)] = b.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 8e13;
  EXPECT_EQ(unlikeness(a, b, MathMode::kFp32), 0);
  b.units *= 2;  // half the bandwidth and half the operations for each
  EXPECT_NEAR(unlikeness(a, b, MathMode::kFp32), 2 * std::log(2), 1e-12);
  EXPECT_NEAR(unlikeness(a, b, MathMode::kHalf), 2 * std::log(2), 1e-12);
  b = test_device();
  b.generation = "second";
  b.process_nm = 8;
  EXPECT_NEAR(unlikeness(a, b, MathMode::kFp32), 1 + 1.5 * std::log(2), 1e-12);
  EXPECT_NEAR(unlikeness(a, b, MathMode::kHalf), 1, 1e-12);  // b's peak isn't known
  b.vendor = "other";
  EXPECT_NEAR(unlikeness(b, a, MathMode::kFp32), 11 + 1.5 * std::log(2), 1e-12);
}

TEST(Kin, CarriedOverTimesScaleWithTheFacts) {
  const GpuModels kin = fitted("big", "a", 16, 250);
  DeviceFacts twice = kin.device;
  twice.name = "twice";
  twice.peak_flops[0] *= 2;
  twice.memory_bytes_per_s *= 2;
  twice.power_w *= 2;
  const GpuModels carried = carried_to(kin, twice, 40e9);
  const ProductShape shape{1, 4096, 4096, 4096, true};
  EXPECT_NEAR(carried.product(shape).seconds, kin.product(shape).seconds / 2, 0.02 * kin.product(shape).seconds);
  EXPECT_EQ(carried.sustained, 1);
}

}  // namespace
}  // namespace perfcast::ai
