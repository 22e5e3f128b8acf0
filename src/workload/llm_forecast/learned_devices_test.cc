#include "workload/llm_forecast/learned_devices.h"

#include <gtest/gtest.h>

#include <cmath>

#include "workload/latency/model/test_gpu.h"
#include "workload/llm_forecast/roofline_model.h"

namespace perfcast {
namespace {

DeviceFacts half_device() {
  DeviceFacts device = test_device();
  device.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 80e12;
  return device;
}

LearnedBundles bundles() {
  LearnedBundles out;
  out.gpu.flops_per_joule_16nm = 45e9;
  out.gpu.fitted = {test_models()};
  HalfPrecisionDevice half;
  half.facts = half_device();
  half.facts.name = "Half GPU";
  for (VectorParameters& vector : half.parameters.vector) vector = {2e-6, 40};
  half.parameters.product_log_error = 0.07;
  half.parameters.vector_log_error = 0.1;
  out.half.source = out.half.licence = out.half.trained = "invented";
  out.half.transfer_log_error = 0.2;
  out.half.devices = {half};
  return out;
}

TEST(LearnedDevices, MeasuredCarriedOverAndRoofline) {
  const auto measured = learned_model(half_device(), bundles());
  ASSERT_TRUE(measured);
  const ProductShape shape{1, 2048, 2048, 2048, true};
  EXPECT_TRUE((*measured)->calibrated(MathMode::kFp32));
  EXPECT_FALSE((*measured)->calibrated(MathMode::kHalf));  // another device's
  EXPECT_EQ((*measured)->product(shape, MathMode::kFp32, 4.0 * 2048 * 2048).seconds,
            test_models().product(shape).seconds);

  DeviceFacts kin = half_device();
  kin.name = "Kin";
  const auto carried = learned_model(kin, bundles());
  ASSERT_TRUE(carried);
  EXPECT_FALSE((*carried)->calibrated(MathMode::kFp32));
  EXPECT_GT((*carried)->log_error(MathMode::kFp32), (*measured)->log_error(MathMode::kFp32));

  DeviceFacts tpu = half_device();
  tpu.kind = DeviceKind::kTpu;
  tpu.name = "TPU";
  const auto roofline = learned_model(tpu, bundles());
  ASSERT_TRUE(roofline);
  const auto expected = RooflineModel::create(tpu);
  EXPECT_EQ((*roofline)->product(shape, MathMode::kHalf, 1e6).seconds,
            (*expected)->product(shape, MathMode::kHalf, 1e6).seconds);
}

TEST(LearnedDevices, AnotherMachineByAKnownNameIsNotMeasured) {
  DeviceFacts slow = half_device();
  slow.memory_bytes_per_s /= 5;
  const auto model = learned_model(slow, bundles());
  ASSERT_TRUE(model);
  EXPECT_FALSE((*model)->calibrated(MathMode::kFp32));
  const double values = 4096.0 * 4096;
  EXPECT_GE((*model)->product({1, 1, 4096, 4096, true}, MathMode::kFp32, 4 * values).seconds,
            4 * values / slow.memory_bytes_per_s);
}

TEST(LearnedDevices, FewRowsStreamTheirWeights) {
  const auto model = learned_model(half_device(), bundles());
  ASSERT_TRUE(model);
  const double values = 8192.0 * 8192;
  const auto seconds = [&](double rows, double bytes) {
    return (*model)->product({1, rows, 8192, 8192, true}, MathMode::kFp32, bytes).seconds;
  };
  const double stream_s = (4 * values + 4 * 2 * 8192) / (500e9 * 0.8);
  EXPECT_NEAR(seconds(1, 4 * values), stream_s, 1e-9);
  EXPECT_NEAR(seconds(1, values / 2), (values / 2 + 4 * 2 * 8192) / (500e9 * 0.8), 1e-9);  // packed in four bits
  EXPECT_TRUE(std::isfinite((*model)->product({1, 1, 8192, 8192, true}, MathMode::kFp32, 4 * values).log_error));
  // No step where the tiles take over.
  for (int rows = 17; rows < 64; ++rows) EXPECT_LT(seconds(rows + 1, 4 * values), 1.2 * seconds(rows, 4 * values));
  EXPECT_LT(seconds(64, 4 * values), 1.2 * seconds(63, 4 * values));
}

TEST(LearnedDevices, NothingIsFasterThanAKernel) {
  const auto model = learned_model(half_device(), bundles());
  ASSERT_TRUE(model);
  const OperatorTime tiny = (*model)->vector({VectorKind::kUnary, 1, 1}, 4);
  EXPECT_GE(tiny.seconds, shortest_kernel_s(DeviceKind::kGpu));
  EXPECT_EQ(tiny.launch_seconds, host_launch_s(DeviceKind::kGpu));
}

TEST(LearnedDevices, RunsOfAUserMoveTheirMode) {
  DeviceCatalogue catalogue;
  catalogue.devices = {half_device()};
  LearnedDevices devices(catalogue, bundles());
  const auto before = devices.find("test gpu");
  ASSERT_TRUE(before);
  const ProductShape shape{1, 4096, 4096, 4096, true};
  const double fp32 = (*before)->product(shape, MathMode::kFp32, 0).seconds;
  const double half = (*before)->product(shape, MathMode::kHalf, 2.0 * 4096 * 4096).seconds;
  CalibrationRun run;
  run.device = "Test GPU";
  run.m = run.k = run.n = 4096;
  run.precision = Precision::kFp16;
  run.latency_s = 2 * half;
  {
    LearnedDevices once(catalogue, bundles());
    ASSERT_TRUE(once.calibrate({run}));
    EXPECT_FALSE((*once.find("Test GPU"))->calibrated(MathMode::kHalf));  // one is not enough
  }
  ASSERT_TRUE(devices.calibrate({run, run, run, run}));
  const auto after = devices.find("Test GPU");
  ASSERT_TRUE(after);
  EXPECT_EQ((*after)->product(shape, MathMode::kFp32, 0).seconds, fp32);
  const double factor = (*after)->product(shape, MathMode::kHalf, 2.0 * 4096 * 4096).seconds / half;
  EXPECT_GT(factor, 1.7);
  EXPECT_LT(factor, 2);
  EXPECT_TRUE((*after)->calibrated(MathMode::kHalf));

  run.device = "no such";
  run.line = 7;
  const Status unknown = devices.calibrate({run});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().where, "line 7");
  run.device = "Test GPU";
  run.precision = Precision::kFp8;
  EXPECT_EQ(devices.calibrate({run}).error().code, "no-calibration");
  run.precision = Precision::kFp16;
  run.latency_s = half / 10;  // faster than the peak
  EXPECT_EQ(devices.calibrate({run}).error().code, "bad-calibration");
  run.latency_s = 1000 * half;  // milliseconds
  EXPECT_EQ(devices.calibrate({run}).error().code, "bad-calibration");
}

}  // namespace
}  // namespace perfcast
