#include "workload/llm_forecast/roofline_devices.h"

#include <gtest/gtest.h>

#include "workload/llm_forecast/testing/test_devices.h"

namespace perfcast {
namespace {

using testing::datacenter_gpu;

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
