#include "program/forecast/kernel_forecast.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "program/model/bundle/train_bundle.h"
#include "program/model/gpu/kernel_world.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;

Forecaster kernel_forecaster() {
  auto bundle = train_bundle(kernel_world::table(kernel_world::devices(), 40, 1), {.model = "kernels:mean"});
  EXPECT_TRUE(bundle) << bundle.error().message;
  bundle->card.name = "test";
  return Forecaster(std::make_shared<const Bundle>(std::move(*bundle)));
}

Profile program_of(int kernels) {
  Profile profile;
  profile.program = "app";
  profile.exit_code = 0;
  Random random(9);
  for (int i = 0; i < kernels; ++i) {
    ProfileKernel kernel;
    kernel.name = "k" + std::to_string(i);
    kernel.launches_count = i + 1;
    kernel.metrics = kernel_world::kernel(random, kernel.name).metrics;
    profile.kernels.push_back(std::move(kernel));
  }
  return profile;
}

TEST(KernelForecast, AddsUpKernelsByLaunches) {
  const Profile profile = program_of(3);
  const auto report = forecast_kernels(kernel_forecaster(), profile, {});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->devices.size(), 5u);
  EXPECT_EQ(report->kernels[2].launches_count, 3);
  for (const KernelDevice& device : report->devices) {
    double truth = 0, sum = 0;
    for (size_t i = 0; i < 3; ++i) {
      Profile kernel;
      kernel.metrics = profile.kernels[i].metrics;
      truth += (static_cast<double>(i) + 1) * kernel_world::seconds_on(kernel, device.platform);
      sum += (static_cast<double>(i) + 1) * device.kernels[i].time_s;
    }
    EXPECT_DOUBLE_EQ(device.all.time_s, sum);
    EXPECT_GE(truth, device.all.lower_s);
    EXPECT_LE(truth, device.all.upper_s);
    EXPECT_FALSE(device.bound.empty());
    EXPECT_EQ(device.whole_s, device.all.time_s);
  }
  for (size_t j = 1; j < 5; ++j) EXPECT_LE(report->devices[j - 1].whole_s, report->devices[j].whole_s);
}

TEST(KernelForecast, AddsTransfersAndTheHost) {
  Profile profile = program_of(1);
  profile.metrics = {{"opencl_to_device_bytes", 1e9}, {"opencl_from_device_bytes", 2.6e8}, {"opencl_host_cpu_s", 0.25}};
  const auto report = forecast_kernels(kernel_forecaster(), profile, {{}, {"k1"}});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->devices.size(), 1u);
  EXPECT_EQ(report->devices[0].platform.name, "K1");
  EXPECT_NEAR(report->devices[0].transfer_s, 0.1, 1e-3);  // at 80% of 15.75 GB/s
  EXPECT_DOUBLE_EQ(report->devices[0].whole_s, report->devices[0].all.time_s + report->devices[0].transfer_s + 0.25);
}

// A GPU of today: by its facts, less surely than those that were measured.
TEST(KernelForecast, HasDevicesThatNobodyMeasured) {
  const Profile profile = program_of(2);
  const auto report = forecast_kernels(
      kernel_forecaster(), profile,
      {{kernel_world::gpu("H1", "hopper", 16896, 1.9e9, 3.3e12), kernel_world::gpu("P1", "pascal", 1, 1, 1)}, {}});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->devices.size(), 6u);  // P1 is the bundle's
  double width = 0, least = 1e9;
  for (const KernelDevice& device : report->devices) {
    const double own = device.kernels[0].upper_s / device.kernels[0].lower_s;
    (device.by_facts ? width : least) = device.by_facts ? own : std::min(least, own);
    EXPECT_EQ(device.by_facts, device.platform.name == "H1");
  }
  EXPECT_GT(width, least);
}

// A kernel that takes three times as long as its counts say, everywhere: seen on one device, known for all.
TEST(KernelForecast, FollowsMeasuredTimes) {
  const Platform modern = kernel_world::gpu("H1", "hopper", 16896, 1.9e9, 3.3e12);
  for (const std::string host : {"M1", "H1"}) {
    Profile profile = program_of(2);
    Profile kernel;
    kernel.metrics = profile.kernels[0].metrics;
    const auto seconds_on = [&](const Platform& device) { return 3 * kernel_world::seconds_on(kernel, device); };
    const Platform on = host == "H1" ? modern : kernel_world::devices()[2];
    profile.kernels[0].metrics["nvprof_kernel_duration_s"] = seconds_on(on);
    const auto report = forecast_kernels(kernel_forecaster(), profile, {{modern}, {}, host});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->measured_on, host);
    EXPECT_EQ(report->kernels[0].measured_s, seconds_on(on));
    EXPECT_FALSE(report->kernels[1].measured_s);
    for (const KernelDevice& device : report->devices) {
      const KernelTime& said = device.kernels[0];
      if (device.platform.name == host) {
        EXPECT_NEAR(said.time_s / seconds_on(on), 1, 1e-3);
        EXPECT_NEAR(said.upper_s / said.lower_s, 1, 1e-3);
        EXPECT_GT(device.kernels[1].upper_s, 1.05 * device.kernels[1].lower_s);
      } else if (!device.by_facts) {
        EXPECT_LE(said.lower_s, seconds_on(device.platform)) << device.platform.name << " from " << host;
        EXPECT_GE(said.upper_s, seconds_on(device.platform)) << device.platform.name << " from " << host;
      }
    }
    EXPECT_EQ(to_json(*report)["measured_on"], host);
    EXPECT_EQ(to_json(*report)["kernels"][0]["measured_s"], seconds_on(on));
    // A device that nobody knows anchors nothing.
    const auto unknown = forecast_kernels(kernel_forecaster(), profile, {{}, {}, "Z9"});
    ASSERT_TRUE(unknown);
    EXPECT_EQ(unknown->measured_on, "");
    EXPECT_FALSE(unknown->kernels[0].measured_s);
  }
}

// Counts of NVIDIA's profilers: by their names, what is missing and what stands for it.
TEST(KernelForecast, NamesMissingCounters) {
  Profile profile = program_of(1);
  profile.collectors = {{"ncu", "", 0, "ok", ""}};
  ProfileKernel kernel;
  kernel.name = "axpy";
  kernel.metrics = {{"nvprof_grid_x_count", 64},
                    {"nvprof_grid_y_count", 1},
                    {"nvprof_block_x_count", 256},
                    {"nvprof_block_y_count", 1},
                    {"nvprof_registers_per_thread_count", 16},
                    {"nvprof_inst_executed_count", 5e4},
                    {"nvprof_l2_read_transactions_count", 4096},
                    {"aiwc_unique_opcodes_count", 5}};
  profile.kernels.push_back(kernel);
  auto report = forecast_kernels(kernel_forecaster(), profile, {});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->kernels.size(), 1u);
  EXPECT_EQ(report->notes.at(0),
            "without a forecast, axpy: the profile lacks lts__t_sectors_op_read.sum, lts__t_sectors_op_write.sum");
  profile.kernels.erase(profile.kernels.begin());
  EXPECT_EQ(forecast_kernels(kernel_forecaster(), profile, {}).error().code, "counters-missing");

  profile.kernels[0].metrics["nvprof_l2_write_transactions_count"] = 2048;
  report = forecast_kernels(kernel_forecaster(), profile, {});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->kernels[0].gaps.size(), 1u);
  EXPECT_EQ(report->kernels[0].gaps[0].counters.front(), "smsp__sass_thread_inst_executed_op_integer_pred_on.sum");
  EXPECT_THAT(report->notes.at(0), HasSubstr("all kernels: smsp__sass_thread_inst_executed_op_integer_pred_on.sum "
                                             "missing; assumed: 32 instructions for each one of a warp"));
  EXPECT_EQ(to_json(*report)["kernels"][0]["assumed"].size(), 1u);
}

TEST(KernelForecast, SaysWhatIsMissing) {
  const Forecaster forecaster = kernel_forecaster();
  EXPECT_EQ(forecast_kernels(forecaster, Profile(), {}).error().code, "no-kernels");
  EXPECT_EQ(forecast_kernels(forecaster, program_of(1), {{}, {"nobody"}}).error().code, "no-platform");
  Profile profile = program_of(2);
  profile.kernels[1].metrics.clear();  // launched with nothing to do
  const auto report = forecast_kernels(forecaster, profile, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->kernels.size(), 1u);
  EXPECT_THAT(report->notes.at(0), HasSubstr("k1"));
  profile.kernels[0].metrics.erase("aiwc_total_memory_footprint_count");
  EXPECT_EQ(forecast_kernels(forecaster, profile, {}).error().code, "bad-profile");
}

TEST(KernelForecast, TellsKernelsThatAreUnlikeAll) {
  Profile profile = program_of(2);
  for (auto& [name, value] : profile.kernels[1].metrics) value *= 1e12;
  const auto report = forecast_kernels(kernel_forecaster(), profile, {});
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->in_distribution);
  EXPECT_TRUE(report->kernels[0].in_distribution);
  EXPECT_FALSE(report->kernels[1].in_distribution);
  const Json json = to_json(*report);
  EXPECT_EQ(json["schema"], "perfcast.kernel-forecast/1");
  EXPECT_EQ(json["kernels"][1]["in_distribution"], false);
  EXPECT_EQ(json["devices"].size(), 5u);
  EXPECT_EQ(json["devices"][0]["kernels"].size(), 2u);
  EXPECT_EQ(json["devices"][0]["device"], report->devices[0].platform.name);
}

}  // namespace
}  // namespace perfcast::program
