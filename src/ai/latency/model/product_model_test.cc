#include "ai/latency/model/product_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/latency/model/test_gpu.h"
#include "base/random.h"

namespace perfcast::ai {
namespace {

TEST(ProductModel, NeverBelowTheRoofline) {
  Random random(5);
  const DeviceRates rates = rates_of(test_device(), MathMode::kFp32);
  ProductModel model = one_kernel(128, 64);
  model.kernels[0][TileTerm::kEfficiency] = 1.15;  // as clocks above the stated boost let it appear
  for (int i = 0; i < 3000; ++i) {
    const auto size = [&] { return std::floor(std::exp(random.uniform(0, 9.5))); };
    const ProductShape shape{1, size(), size(), size(), true};
    const double flops = 2 * shape.m * shape.k * shape.n;
    const double seconds = model.time(shape, rates).seconds;
    EXPECT_GE(seconds, flops / 10e12);
    EXPECT_GE(seconds, 4 * (shape.m * shape.k + shape.k * shape.n + shape.m * shape.n) / 500e9);
  }
}

TEST(ProductModel, AveragesInLogByProbability) {
  const DeviceRates rates = rates_of(test_device(), MathMode::kFp32);
  ProductModel both = one_kernel(128, 64);
  both.kernels.push_back(usual_kernel(32, 32));
  both.classes.push_back({1, 1});
  TileChoice::Node leaf;
  leaf.shares = 2;
  both.choice = TileChoice({leaf}, {{0, 0.75}, {1, 0.25}});
  const ProductShape shape{1, 1000, 1000, 1000, true};
  const double a = one_kernel(128, 64).time(shape, rates).seconds, b = one_kernel(32, 32).time(shape, rates).seconds;
  ASSERT_NE(a, b);
  EXPECT_NEAR(both.time(shape, rates).seconds, std::exp(0.75 * std::log(a) + 0.25 * std::log(b)), 1e-12);
}

TEST(ProductModel, PowerHoldsLargeProductsToItsShare) {
  const DeviceRates rates = rates_of(test_device(), MathMode::kFp32);
  const ProductModel model = one_kernel(128, 64);
  const ProductShape large{1, 4096, 4096, 4096, true};
  const double share = 2 * 4096.0 * 4096 * 4096 / model.time(large, rates, 0.3).seconds / 10e12;
  EXPECT_LE(share, 0.3);
  EXPECT_GT(share, 0.25);
  EXPECT_EQ(model.time(large, rates, 1).bound, Bound::kCompute);
  EXPECT_NE(model.time({1, 8192, 8, 8192, true}, rates).bound, Bound::kCompute);
}

}  // namespace
}  // namespace perfcast::ai
