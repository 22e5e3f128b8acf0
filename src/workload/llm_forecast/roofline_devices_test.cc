#include "workload/llm_forecast/roofline_devices.h"

#include <gtest/gtest.h>

#include "workload/llm_forecast/testing/test_devices.h"

namespace perfcast {
namespace {

using testing::datacenter_gpu;
using testing::device_of;

TEST(RooflineModel, TakesTheLongestOfArithmeticMemoryAndKernel) {
  const auto model = testing::roofline(device_of("x", DeviceKind::kGpu, 1e9, 1e6));
  // 2 * 3 * 100 * 200 * 300 operations; 3 * (100 * 200 + 100 * 300) values and the weights' bytes.
  const OperatorTime compute = model->product({3, 100, 200, 300, true}, MathMode::kHalf, 0);
  EXPECT_NEAR(compute.seconds, 0.3, 1e-12);  // 300,000 bytes take longer than 36 million operations
  EXPECT_EQ(compute.bound, Bound::kMemory);
  EXPECT_NEAR(model->product({3, 100, 200, 300, true}, MathMode::kHalf, 1e6).seconds, 1.3, 1e-12);
  EXPECT_EQ(model->product({1, 1e4, 1e4, 1e4, true}, MathMode::kHalf, 0).bound, Bound::kCompute);
  EXPECT_NEAR(model->product({1, 1e4, 1e4, 1e4, true}, MathMode::kHalf, 0).seconds, 2000, 1e-9);
  EXPECT_NEAR(model->vector({VectorKind::kBinary, 10, 100}, 4).seconds, 0.012, 1e-15);
  EXPECT_NEAR(model->vector({VectorKind::kSoftmax, 10, 100}, 4).seconds, 0.008, 1e-15);
  const OperatorTime shortest = model->vector({VectorKind::kCopy, 1, 0}, 4);
  EXPECT_EQ(shortest.seconds, 2e-6);
  EXPECT_EQ(shortest.bound, Bound::kLaunch);
  EXPECT_TRUE(model->supports(MathMode::kHalf));
  EXPECT_FALSE(model->supports(MathMode::kFp8));
  EXPECT_FALSE(model->calibrated(MathMode::kHalf));
}

TEST(RooflineModel, NeedsABandwidthAndAPeak) {
  DeviceFacts facts = datacenter_gpu();
  facts.memory_bytes_per_s = DeviceFacts::kUnknown;
  const auto model = RooflineModel::create(facts);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, "bad-device");
  DeviceFacts bare;
  bare.memory_bytes_per_s = 1e9;
  EXPECT_FALSE(RooflineModel::create(bare));
}

TEST(RooflineDevices, AreFoundByNameAndAliasAndNamedWhenTheyAreNot) {
  DeviceFacts bigger = datacenter_gpu("Bigger GPU");
  bigger.aliases = {};
  RooflineDevices devices({{datacenter_gpu(), bigger}});
  EXPECT_EQ((*devices.find("BIG"))->device().name, "Big GPU");
  EXPECT_EQ((*devices.find(" bigger gpu "))->device().name, "Bigger GPU");
  EXPECT_EQ(devices.names(), (std::vector<std::string>{"Big GPU", "Bigger GPU"}));
  const auto unknown = devices.find("Bigest GPU");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "unknown-device");
  EXPECT_NE(unknown.error().expected.find("bigger-gpu"), std::string::npos) << unknown.error().expected;
  CalibrationRun run;
  run.device = "big";
  EXPECT_EQ(devices.calibrate({run}).error().code, "no-calibration");
  run.device = "other";
  EXPECT_EQ(devices.calibrate({run}).error().code, "unknown-device");
}

}  // namespace
}  // namespace perfcast
