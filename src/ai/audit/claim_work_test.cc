#include "ai/audit/claim_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai {
namespace {

DeviceFacts invented_gpu() {
  DeviceFacts device;
  device.name = "invented";
  device.generation = "ampere";
  device.peak_flops[static_cast<size_t>(MathMode::kFp32)] = 1e13;
  device.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 1e14;
  device.peak_flops[static_cast<size_t>(MathMode::kInt8)] = 2e14;
  return device;
}

TEST(ClaimPeaks, AreThoseOfThePrecision) {
  const DeviceFacts device = invented_gpu();
  const auto peak = [&](const char* precision) { return dense_peak(device, claim_precision_named(precision)); };
  EXPECT_EQ(peak("fp32").flops, 1e13);
  EXPECT_EQ(peak("BF16").flops, 1e14);
  EXPECT_EQ(peak("int4").flops, 4e14);
  EXPECT_EQ(peak("w4a16").flops, 1e14);
  EXPECT_EQ(peak("q4_k_m").flops, 2e14);
  EXPECT_FALSE(peak("fp8").has_units);
  EXPECT_EQ(peak("fp8").flops, 2e14);
  EXPECT_EQ(dense_peak(device, std::nullopt).flops, 4e14);
  EXPECT_FALSE(claim_precision_named("fp17"));
  // Only single precision is known of it: what halves could reach isn't.
  DeviceFacts old;
  old.peak_flops[static_cast<size_t>(MathMode::kFp32)] = 1e13;
  EXPECT_TRUE(std::isnan(dense_peak(old, claim_precision_named("fp16")).flops));
  EXPECT_TRUE(has_sparse_units(device));
  EXPECT_FALSE(has_sparse_units(old));
}

TEST(TokenWork, IsThatOfTheWeightsThatATokenVisits) {
  Claim claim;
  claim.precision = "fp16";
  const auto work_of = [&](const char* model) {
    claim.model = model;
    return token_work(resolve_claim(claim, {}));
  };
  const auto dense = work_of("llama3-8b");
  ASSERT_TRUE(dense);
  // 8.03e9 parameters, of which the table of 128,256 x 4,096 embeddings is looked up.
  EXPECT_NEAR(dense->flops, 2 * 7.5e9, 2e8);
  EXPECT_NEAR(dense->weight_bytes, 2 * 7.5e9, 2e8);
  EXPECT_NEAR(dense->stored_bytes, 2 * 8.03e9, 1e8);
  EXPECT_LT(dense->prefill_flops_per_token, dense->flops);
  const auto experts = work_of("mixtral-8x7b");
  ASSERT_TRUE(experts);
  EXPECT_NEAR(experts->weight_bytes, 2 * 12.75e9, 4e8);
  EXPECT_NEAR(experts->stored_bytes, 2 * 46.7e9, 1e9);
  EXPECT_FALSE(work_of("bert-large"));
  EXPECT_FALSE(work_of("resnet50"));
}

TEST(SampleWork, OfAProductAndOfAnEncoder) {
  Claim claim;
  claim.model = "gemm";
  claim.shape = {4096, 4096, 4096};
  claim.precision = "fp32";
  const SampleWork product = sample_work(resolve_claim(claim, {}));
  EXPECT_EQ(product.flops, 2.0 * 4096 * 4096 * 4096);
  EXPECT_EQ(product.bytes, 3.0 * 4096 * 4096 * 4);
  Claim encoder;
  encoder.model = "bert-large";
  encoder.sequence = 384;
  const SampleWork sample = sample_work(resolve_claim(encoder, {}));
  // 24 layers of 12 x 1024^2 weights and two products of 384 x 384 x 1024.
  EXPECT_NEAR(sample.flops, 2 * 384.0 * 24 * (12 * 1024.0 * 1024 + 2 * 384 * 1024), 1e10);
  EXPECT_LT(sample.least_factor, 0.01);
  encoder.padded = true;
  EXPECT_EQ(sample_work(resolve_claim(encoder, {})).least_factor, 1);
}

}  // namespace
}  // namespace perfcast::ai
