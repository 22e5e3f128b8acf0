#include "ai/latency/kernels/kernel_residuals.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai {
namespace {

KernelShape decode(double batch, double length, double window, double head_dim = 128) {
  return {KernelKind::kDecode, KernelFormat::kHalf, {batch, length, 32, 8, head_dim, window}};
}

TEST(KernelResiduals, ExactWhereMeasuredAndLinearInLogsBetween) {
  KernelResiduals residuals;
  residuals.add(product_kernel(1, 64, 64), 0.25);
  residuals.add(product_kernel(16, 64, 64), 0.75);
  residuals.add(product_kernel(1, 256, 64), 0.5);
  residuals.add(product_kernel(16, 256, 64), 1.5);
  residuals.finish();
  EXPECT_EQ(residuals.find(product_kernel(1, 64, 64))->log_ratio, 0.25);
  EXPECT_EQ(residuals.find(product_kernel(16, 256, 64))->log_ratio, 1.5);
  EXPECT_NEAR(residuals.find(product_kernel(4, 64, 64))->log_ratio, 0.5, 1e-6);
  EXPECT_NEAR(residuals.find(product_kernel(4, 128, 64))->log_ratio, 0.75, 1e-6);
  EXPECT_EQ(residuals.find(product_kernel(4, 128, 64))->outside, 0);
}

TEST(KernelResiduals, BeyondTheOutermostAsThere) {
  KernelResiduals residuals;
  residuals.add(product_kernel(2, 64, 64), 0.25);
  residuals.add(product_kernel(4, 64, 64), 0.5);
  residuals.finish();
  EXPECT_EQ(residuals.find(product_kernel(1, 64, 64))->log_ratio, 0.25);
  EXPECT_NEAR(residuals.find(product_kernel(1, 64, 64))->outside, std::log(2), 1e-6);
  EXPECT_EQ(residuals.find(product_kernel(32, 64, 512))->log_ratio, 0.5);
  EXPECT_NEAR(residuals.find(product_kernel(32, 64, 512))->outside, std::log(8), 1e-6);
}

TEST(KernelResiduals, NeitherFormatsNorHeadDimensionsAreMixed) {
  KernelResiduals residuals;
  residuals.add(decode(1, 1024, 0), 0.5);
  residuals.add(decode(1, 1024, 128), 0.125);
  residuals.finish();
  EXPECT_FALSE(residuals.find(product_kernel(1, 64, 64)));
  EXPECT_FALSE(residuals.find(decode(1, 1024, 0, 64)));
  EXPECT_EQ(residuals.find(decode(8, 1024, 128))->log_ratio, 0.125);
  EXPECT_FALSE(residuals.find(decode(1, 1024, 256)));
  EXPECT_EQ(residuals.find_alike(decode(1, 1024, 256))->log_ratio, 0.3125);
  EXPECT_EQ(residuals.find_alike(decode(1, 1024, 128))->log_ratio, 0.125);
  EXPECT_EQ(residuals.find(decode(1, 1024, 4096))->log_ratio, 0.5);  // a window that shuts nothing out
  EXPECT_TRUE(residuals.covers(KernelKind::kDecode, KernelFormat::kHalf));
  EXPECT_FALSE(residuals.covers(KernelKind::kDecode, KernelFormat::kFp8));
}

TEST(KernelResiduals, OfEqualShapesTheLastCounts) {
  KernelResiduals residuals;
  residuals.add(product_kernel(1, 64, 64), 1);
  residuals.add(product_kernel(1, 64, 64), 2);
  residuals.finish();
  EXPECT_EQ(residuals.size(), 1u);
  EXPECT_EQ(residuals.find(product_kernel(1, 64, 64))->log_ratio, 2);
}

}  // namespace
}  // namespace perfcast::ai
