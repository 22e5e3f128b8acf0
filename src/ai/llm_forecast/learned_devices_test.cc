#include "ai/llm_forecast/learned_devices.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/latency/model/test_gpu.h"
#include "ai/llm_forecast/roofline_model.h"

namespace perfcast::ai {
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

CalibrationRun fp32_run(int64_t rows, double seconds) {
  CalibrationRun run;
  run.device = "Kin";
  run.m = rows;
  run.k = run.n = 8192;
  run.latency_s = seconds;
  return run;
}

// fp32 products of few rows and tall ones are two laws: runs of the one leave the other as it was.
TEST(LearnedDevices, RunsOfFewRowsMoveTheirOwnForm) {
  DeviceFacts kin = half_device();
  kin.name = "Kin";
  const auto before = learned_model(kin, bundles());
  ASSERT_TRUE(before);
  constexpr double kWeights = 4.0 * 8192 * 8192;
  const auto seconds = [&](const LatencyModel& model, double rows) {
    return model.product({1, rows, 8192, 8192, true}, MathMode::kFp32, kWeights).seconds;
  };
  std::vector<CalibrationRun> few, tall;
  for (const int64_t rows : {1, 2, 4, 8})
    few.push_back(fp32_run(rows, 1.5 * seconds(**before, static_cast<double>(rows))));
  for (const int64_t rows : {256, 512, 1024, 2048})
    tall.push_back(fp32_run(rows, 1.5 * seconds(**before, static_cast<double>(rows))));

  const auto after_few = learned_model(kin, bundles(), few);
  ASSERT_TRUE(after_few);
  const double factor = std::exp(4 * std::log(1.5) / 4.4);
  EXPECT_NEAR(seconds(**after_few, 1), factor * seconds(**before, 1), 1e-9);
  EXPECT_NEAR(seconds(**after_few, 16), factor * seconds(**before, 16), 1e-9);
  for (const double rows : {64.0, 512.0, 4096.0}) EXPECT_EQ(seconds(**after_few, rows), seconds(**before, rows));
  EXPECT_TRUE((*after_few)->calibrated(MathMode::kFp32, 1));
  EXPECT_FALSE((*after_few)->calibrated(MathMode::kFp32, 512));
  EXPECT_FALSE((*after_few)->calibrated(MathMode::kFp32));
  EXPECT_EQ((*after_few)->log_error(MathMode::kFp32), (*before)->log_error(MathMode::kFp32));

  const auto after_tall = learned_model(kin, bundles(), tall);
  ASSERT_TRUE(after_tall);
  EXPECT_GT(seconds(**after_tall, 512), 1.2 * seconds(**before, 512));
  for (const double rows : {1.0, 4.0, 16.0}) EXPECT_EQ(seconds(**after_tall, rows), seconds(**before, rows));
  EXPECT_FALSE((*after_tall)->calibrated(MathMode::kFp32, 1));
  EXPECT_TRUE((*after_tall)->calibrated(MathMode::kFp32, 512));
}

// What devices left out came to is what an unmeasured device's intervals are made of; a bundle without it has assumed
// ones. The times themselves don't change.
TEST(LearnedDevices, IntervalsOfAnUnmeasuredDeviceAreThoseOfDevicesLeftOut) {
  DeviceFacts kin = half_device();
  kin.name = "Kin";
  kin.vendor = "NVIDIA";  // as the devices that were left out
  LearnedBundles with = bundles();
  with.gpu.carried.linear = 0.4;
  with.gpu.carried.batched = 0.3;
  with.gpu.carried.vector.fill(0.2);
  with.gpu.carried.whole_model = 0.22;
  with.gpu.calibrated.linear = 0.31;
  with.gpu.calibrated.whole_model = 0.19;
  const auto model = learned_model(kin, with), assumed = learned_model(kin, bundles());
  ASSERT_TRUE(model && assumed);
  const ProductShape linear{1, 2048, 2048, 2048, true}, batched{16, 512, 64, 512, false};
  const auto product = [&](const LatencyModel& of, const ProductShape& shape) {
    return of.product(shape, MathMode::kFp32, 4 * shape.k * shape.n);
  };
  EXPECT_EQ(product(**model, linear).log_error, 0.4);
  EXPECT_EQ(product(**model, batched).log_error, 0.3);
  EXPECT_EQ((*model)->vector({VectorKind::kNorm, 4096, 4096}, 4).log_error, 0.2);
  EXPECT_EQ((*model)->step_log_error(MathMode::kFp32), 0.22);
  EXPECT_EQ((*model)->step_log_error(MathMode::kHalf),
            0.26);  // the device has no products of its own in half precision
  EXPECT_DOUBLE_EQ(product(**assumed, linear).log_error, std::hypot(0.1, 0.25));
  EXPECT_TRUE(std::isnan((*assumed)->step_log_error(MathMode::kFp32)));
  EXPECT_EQ(product(**model, linear).seconds, product(**assumed, linear).seconds);

  std::vector<CalibrationRun> tall;
  for (const int64_t rows : {256, 512, 1024, 2048}) {
    const ProductShape shape{1, static_cast<double>(rows), 8192, 8192, true};
    tall.push_back(fp32_run(rows, product(**model, shape).seconds));
  }
  const auto calibrated = learned_model(kin, with, tall);
  ASSERT_TRUE(calibrated);
  EXPECT_EQ(product(**calibrated, linear).log_error, 0.31);
  EXPECT_EQ(product(**calibrated, batched).log_error, 0.3);  // none of them was measured
  EXPECT_EQ((*calibrated)->step_log_error(MathMode::kFp32), 0.19);
}

TEST(LearnedDevices, MeasuredKernelsAreTheirTimes) {
  DeviceFacts device = half_device();
  device.clock_hz = kUnknown;  // no form beside them: logs of times alone
  const KernelShape product{KernelKind::kProduct, KernelFormat::kHalf, {64, 4096, 4096}};
  const KernelShape attention{KernelKind::kDecode, KernelFormat::kHalf, {8, 1024, 32, 8, 128, 0}};
  const auto model = learned_model(device, bundles(), {}, {{product, 5e-3}, {attention, 2e-3}});
  ASSERT_TRUE(model);
  const OperatorTime time = (*model)->product({1, 64, 4096, 4096, true}, MathMode::kHalf, 2.0 * 4096 * 4096);
  EXPECT_DOUBLE_EQ(time.seconds, 5e-3);
  EXPECT_TRUE(time.measured);
  EXPECT_DOUBLE_EQ((*model)->kernel(attention).seconds, 2e-3);
  // Packed weights, two activations and other heads are other kernels.
  EXPECT_FALSE((*model)->product({1, 64, 4096, 4096, true}, MathMode::kHalf, 0.5 * 4096 * 4096).measured);
  EXPECT_FALSE((*model)->product({1, 64, 4096, 4096, false}, MathMode::kHalf, 0).measured);
  EXPECT_TRUE(
      std::isnan((*model)->kernel({KernelKind::kDecode, KernelFormat::kHalf, {8, 1024, 32, 8, 64, 0}}).seconds));
}

TEST(LearnedDevices, DatabasesAreHeldAgainstTheFacts) {
  DeviceFacts device = half_device();
  device.aliases = {"mine"};
  KernelDatabase database;
  database.systems = {"mine", "stranger"};
  database.libraries = {""};
  const auto add = [&](uint32_t system, double m, double seconds) {
    database.kernels.push_back({system, 0, {KernelKind::kProduct, KernelFormat::kHalf, {m, 4096, 4096}}, seconds});
  };
  for (const double m : {64, 128, 256}) add(0, m, 1e-3);
  add(0, 65536, 1e-6);  // 2 PFLOP in a microsecond
  add(1, 64, 1e-3);
  LearnedDevices devices({{device}}, bundles());
  ASSERT_TRUE(devices.calibrate_kernels(database));
  ASSERT_EQ(database.left_out.size(), 2u);
  EXPECT_NE(database.left_out[0].reason.find("too short for its peak"), std::string::npos);
  EXPECT_NE(database.left_out[1].reason.find("'stranger' is no device"), std::string::npos);
  const auto model = devices.find("mine");
  ASSERT_TRUE(model);
  EXPECT_TRUE((*model)->product({1, 64, 4096, 4096, true}, MathMode::kHalf, 2.0 * 4096 * 4096).measured);

  for (MeasuredKernel& kernel : database.kernels) kernel.seconds *= 1e3;  // read as ms, and in us
  LearnedDevices again({{device}}, bundles());
  const Status wrong = again.calibrate_kernels(database);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, "bad-calibration");
}

}  // namespace
}  // namespace perfcast::ai
