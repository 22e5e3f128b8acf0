#include "workload/latency/model/kin.h"

#include <gtest/gtest.h>

#include <cmath>

#include "workload/latency/model/test_gpu.h"

namespace perfcast {
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
  device.power_w = DeviceFacts::kUnknown;
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

TEST(Kin, CalibrationTakesOutABias) {
  GpuModels models = fitted("big", "a", 16, 250);
  std::vector<NeusightProduct> measured;
  for (const double m : {512.0, 1024.0, 2048.0, 4096.0}) {
    NeusightProduct row;
    row.shape = {1, m, 1024, 1024, true};
    const OperatorTime time = models.product(row.shape);
    row.seconds = 1.3 * (time.seconds + time.launch_seconds);
    measured.push_back(row);
  }
  const double before = models.product(measured[3].shape).seconds;
  const double batched = models.product({8, 512, 64, 512, false}).seconds;
  EXPECT_EQ(calibrate(models, measured), 4u);
  const double factor = models.product(measured[3].shape).seconds / before;
  EXPECT_GT(factor, 1.25);  // shrunk a little towards none
  EXPECT_LT(factor, 1.3);
  EXPECT_EQ(models.product({8, 512, 64, 512, false}).seconds, batched);
}

}  // namespace
}  // namespace perfcast
