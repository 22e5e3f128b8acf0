#include "studies/latency/left_out_devices.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/latency/model/test_gpu.h"

namespace perfcast::ai::latency_study {
namespace {

LeftOutDevice left_out(std::vector<double> linear) {
  LeftOutDevice device;
  device.linear = std::move(linear);
  return device;
}

TEST(LeftOutDevices, EachDeviceCountsTheSame) {
  // A thousand rows of one and ten of the other; the pooled nine in ten lie at 0.2 then.
  const std::vector<LeftOutDevice> devices = {left_out(std::vector<double>(1000, 0.1)),
                                              left_out(std::vector<double>(10, -0.2))};
  // Made of the first alone, the interval holds none of the second until it is twice as wide.
  const double error = carried_errors(devices).linear;
  EXPECT_NEAR(error, 0.4 / 1.645, 0.02);
  EXPECT_NEAR(carried_errors(devices, 1).linear, 0.1 / 1.645, 1e-12);
  EXPECT_TRUE(std::isnan(carried_errors(devices).batched));
  EXPECT_TRUE(std::isnan(carried_errors({}).linear));
}

TEST(LeftOutDevices, ShareInsideAnInterval) {
  const std::vector<double> ratios = {0.1, -0.1, 0.3, -0.5};
  EXPECT_EQ(share_inside(ratios, 0.1), 0.5);
  EXPECT_EQ(share_inside(ratios, 0.2), 0.75);
  EXPECT_TRUE(std::isnan(share_inside({}, 0.1)));
}

// Two boards of one design: each is forecast from the other, and exactly where the facts say all.
TEST(LeftOutDevices, AreForecastFromTheRest) {
  GpuBundle bundle;
  bundle.fitted = {test_models(), test_models()};
  bundle.fitted[1].fitted_on = bundle.fitted[1].device.name = "Twin";
  NeusightData data;
  for (const std::string device : {"Test GPU", "Twin"}) {
    for (const double m : {256.0, 1024.0, 4096.0}) {
      NeusightProduct row;
      row.device = device;
      row.shape = {1, m, 1024, 1024, true};
      const OperatorTime time = test_models().product(row.shape);
      row.seconds = (time.seconds + time.launch_seconds) * (device == "Twin" ? 1.2 : 1);
      data.train.products.push_back(row);
    }
  }
  const auto devices = leave_devices_out(data, bundle);
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ((*devices)[0].from, "Twin");
  EXPECT_EQ((*devices)[1].from, "Test GPU");
  // Both boards' power holds them back alike; what is left between them is what was measured.
  ASSERT_EQ((*devices)[1].linear.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR((*devices)[1].linear[i] - (*devices)[0].linear[i], -std::log(1.2), 1e-9);
    EXPECT_NEAR((*devices)[0].linear[i], 0, 0.1);
  }
  bundle.fitted.pop_back();
  EXPECT_EQ(leave_devices_out(data, bundle).error().code, "no-kin");
}

}  // namespace
}  // namespace perfcast::ai::latency_study
