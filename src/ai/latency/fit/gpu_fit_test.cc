#include "ai/latency/fit/gpu_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/latency/model/test_gpu.h"
#include "base/random.h"

namespace perfcast::ai {
namespace {

// Measurements of an invented GPU whose library takes one kernel for tall products and another for the rest.
std::vector<ProfiledProduct> measured(const DeviceRates& rates, size_t rows, uint64_t seed, double noise) {
  TileKernel tall = usual_kernel(128, 128), other = usual_kernel(32, 128);
  tall[TileTerm::kEfficiency] = 0.8;
  other[TileTerm::kEfficiency] = 0.55;
  other[TileTerm::kLaunch] = 2e-5;
  Random random(seed);
  std::vector<ProfiledProduct> out;
  for (size_t i = 0; i < rows; ++i) {
    ProfiledProduct row;
    const auto size = [&](double most) { return std::floor(std::exp(random.uniform(3, most))); };
    row.shape = {1, size(9), size(9.5), size(9.5), true};
    const bool is_tall = row.shape.m > 1024;
    const TileKernel& kernel = is_tall ? tall : other;
    row.kernel = is_tall ? "tall" : "other";
    row.tile_m = kernel.tile_m;
    row.tile_n = kernel.tile_n;
    row.seconds = (kernel[TileTerm::kLaunch] + tile_time(kernel, rates, row.shape, 1).seconds) *
                  std::exp(noise * random.normal());
    out.push_back(row);
  }
  return out;
}

TEST(GpuFit, FindsAModelThatMadeTheData) {
  const DeviceRates rates = rates_of(test_device(), MathMode::kFp32);
  const auto model = fit_products(measured(rates, 1500, 1, 0.02), rates);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->kernels.size(), 2u);
  double sum = 0;
  const auto fresh = measured(rates, 500, 2, 0);
  for (const ProfiledProduct& row : fresh) {
    const OperatorTime time = model->time(row.shape, rates);
    sum += std::abs(std::log((time.seconds + time.launch_seconds) / row.seconds));
  }
  EXPECT_LT(sum / 500, 0.03);
  EXPECT_GT(model->log_error, 0.01);
  EXPECT_LT(model->log_error, 0.2);
}

TEST(GpuFit, IsTheSameEveryTime) {
  const DeviceRates rates = rates_of(test_device(), MathMode::kFp32);
  GpuFitOptions options;
  options.most_rows = 200;
  const auto rows = measured(rates, 800, 1, 0.02);
  const auto a = fit_products(rows, rates, options), b = fit_products(rows, rates, options);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->kernels[0].terms, b->kernels[0].terms);
}

TEST(GpuFit, TooFewRowsAreAnError) {
  const DeviceRates rates = rates_of(test_device(), MathMode::kFp32);
  const auto model = fit_products(measured(rates, 20, 1, 0), rates);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, "bad-fit");
  EXPECT_FALSE(fit_vectors({}, rates, 1.5e9));
}

TEST(GpuFit, VectorOperators) {
  const GpuModels truth = test_models();
  const DeviceRates rates = rates_of(truth.device, MathMode::kFp32);
  Random random(4);
  std::vector<MeasuredVector> rows;
  constexpr VectorKind kKinds[] = {VectorKind::kUnary, VectorKind::kBinary, VectorKind::kSoftmax, VectorKind::kNorm};
  for (int i = 0; i < 600; ++i) {
    for (const VectorKind kind : kKinds) {
      const double high = std::floor(std::exp(random.uniform(2, 12)));
      const double wide = std::floor(std::exp(random.uniform(4, 8.3)));
      const OperatorTime time = truth.vector({kind, high, wide});
      rows.push_back({{kind, high, wide}, time.seconds + time.launch_seconds});
    }
  }
  const auto models = fit_vectors(rows, rates, truth.device.clock_hz);
  ASSERT_TRUE(models);
  for (const MeasuredVector& row : rows) {
    GpuModels fitted = truth;
    fitted.vectors = *models;
    const OperatorTime time = fitted.vector(row.shape);
    EXPECT_NEAR(std::log((time.seconds + time.launch_seconds) / row.seconds), 0, 0.05)
        << static_cast<int>(row.shape.kind);
  }
}

}  // namespace
}  // namespace perfcast::ai
