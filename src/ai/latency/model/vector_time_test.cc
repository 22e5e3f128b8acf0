#include "ai/latency/model/vector_time.h"

#include <gtest/gtest.h>

#include "ai/latency/model/test_gpu.h"

namespace perfcast::ai {
namespace {

TEST(VectorTime, LargeTensorsStream) {
  const GpuModels models = test_models();
  const double values = 1e9;
  const double stream = values * 8 / (500e9 * 0.8);
  EXPECT_NEAR(models.vector({VectorKind::kUnary, 1e6, 1000}).seconds, stream, 0.01 * stream);
  EXPECT_NEAR(models.vector({VectorKind::kBinary, 1e6, 1000}).seconds, 1.5 * stream, 0.01 * stream);
  EXPECT_NEAR(models.vector({VectorKind::kUnary, 1e6, 1000}, 2).seconds, stream / 2, 0.01 * stream);
}

TEST(VectorTime, WhatFitsTheCacheIsFaster) {
  const GpuModels models = test_models();
  const double small = models.vector({VectorKind::kUnary, 10, 1000}).seconds;
  EXPECT_LT(small, 10 * 1000 * 8 / (500e9 * 0.8) / 2);
}

TEST(VectorTime, WarpsRoundRowsUpToAPowerOfTwo) {
  const GpuModels models = test_models();
  const VectorModel& model = models.vectors.short_softmax;
  const DeviceRates fast{50, 10e12, 1e18, 4e6};  // bytes cost nothing
  const double full = vector_seconds(model, fast, 1.5e9, 1e5, 512, 4);
  EXPECT_NEAR(full, 1e5 * (200 + 4 * 512 / 32.0) / (50 * 1.5e9), 1e-9);
  EXPECT_DOUBLE_EQ(vector_seconds(model, fast, 1.5e9, 1e5, 300, 4), full);
  EXPECT_GT(vector_seconds(model, fast, 1.5e9, 1e5, 516, 4), full);
  EXPECT_NEAR(vector_seconds(model, fast, 1.5e9, 1e5, 511, 4), 1.05 * full, 1e-9);  // not a multiple of four
}

TEST(VectorTime, LongSoftmaxIsAnotherKernel) {
  const VectorModels models = test_models().vectors;
  EXPECT_EQ(&models.of(VectorKind::kSoftmax, 1024), &models.short_softmax);
  EXPECT_EQ(&models.of(VectorKind::kSoftmax, 1025), &models.long_softmax);
  EXPECT_EQ(&models.of(VectorKind::kCopy, 1), &models.unary);
}

}  // namespace
}  // namespace perfcast::ai
