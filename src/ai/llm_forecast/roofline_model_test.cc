#include "ai/llm_forecast/roofline_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

#include "ai/latency/model/device_catalogue.h"
#include "ai/llm_forecast/testing/test_devices.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"

namespace perfcast::ai {
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
  EXPECT_EQ(shortest.bound, Bound::kStart);
  EXPECT_TRUE(model->supports(MathMode::kHalf));
  EXPECT_FALSE(model->supports(MathMode::kFp8));
  EXPECT_FALSE(model->calibrated(MathMode::kHalf));
}

TEST(RooflineModel, NeedsABandwidthAndAPeak) {
  DeviceFacts facts = datacenter_gpu();
  facts.memory_bytes_per_s = kUnknown;
  const auto model = RooflineModel::create(facts);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, "bad-device");
  DeviceFacts bare;
  bare.memory_bytes_per_s = 1e9;
  EXPECT_FALSE(RooflineModel::create(bare));
}

struct Errors {
  double sum = 0, squares = 0, absolute = 0;
  size_t count = 0;
  void add(double log_error) {
    sum += log_error;
    squares += log_error * log_error;
    absolute += std::abs(std::expm1(log_error));
    ++count;
  }
  double root_mean_square() const { return std::sqrt(squares / static_cast<double>(count)); }
};

// The products of a layer: time in milliseconds, width in and out. Sizes as the profile's columns name them.
void add_row(const CsvTable& table, size_t row, const LatencyModel& model, Errors& errors) {
  const auto number = [&](const char* column) { return table.number(row, *table.column(column))->value_or(NAN); };
  const double tokens = number("num_tokens"), width = number("n_embd"), degree = number("num_tensor_parallel_workers");
  const double inner = number("n_expanded_embd") / degree;
  const bool gated = lower_case(table.cell(row, *table.column("use_gated_mlp"))) == "true";
  const double qkv = width / number("n_head") * (number("n_head") + 2 * number("n_kv_head")) / degree;
  const struct {
    const char* column;
    double k, n;
  } products[] = {{"mlp_up_proj_ms", width, inner * (gated ? 2 : 1)},
                  {"mlp_down_proj_ms", inner, width},
                  {"attn_pre_proj_ms", width, qkv},
                  {"attn_post_proj_ms", width / degree, width}};
  for (const auto& product : products) {
    const double measured_s = number(product.column) * 1e-3;
    if (!(measured_s > 0)) continue;
    const double forecast_s =
        model.product({1, tokens, product.k, product.n, true}, MathMode::kHalf, product.k * product.n * 2).seconds;
    errors.add(std::log(forecast_s / measured_s));
  }
}

// What its log_error() states, on published profiles of layers: about what it is on each device, and never far less.
TEST(RooflineModel, StatesTheErrorThatItHasOnMeasuredLayers) {
  const std::string path = std::string(PERFCAST_SHARED_DATA) + "/vidur/mlp.csv.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no layer profiles at " << path;
  const auto text = read_file(path);
  ASSERT_TRUE(text);
  const auto table = CsvTable::parse(*text, path);
  ASSERT_TRUE(table);
  const auto catalogue = read_device_catalogue(std::string(PERFCAST_SOURCE_DIR) + "/data/devices/devices.json");
  ASSERT_TRUE(catalogue);
  std::map<std::string, Errors> errors;
  std::map<std::string, std::shared_ptr<const LatencyModel>> models;
  for (const char* name : {"a100", "a40", "h100"}) models[name] = testing::roofline(**find_device(*catalogue, name));
  for (size_t row = 0; row < table->rows(); ++row) {
    const std::string device(table->cell(row, *table->column("device")));
    ASSERT_TRUE(models.contains(device)) << device;
    add_row(*table, row, *models[device], errors[device]);
  }
  for (const auto& [device, error] : errors) {
    const auto count = static_cast<double>(error.count);
    std::printf("%s: %zu products, log error mean %.3f, root mean square %.3f; mean absolute %.1f%%\n", device.c_str(),
                error.count, error.sum / count, error.root_mean_square(), 100 * error.absolute / count);
    EXPECT_GT(error.count, 10000u) << device;
    EXPECT_LT(error.root_mean_square(), 1.05 * kRooflineLogError) << device;
    EXPECT_GT(error.root_mean_square(), 0.4 * kRooflineLogError) << device;
  }
}

}  // namespace
}  // namespace perfcast::ai
