#include <gtest/gtest.h>

#include "ai/engine/engine_step.h"
#include "ai/llm/model_catalogue.h"
#include "ai/llm/stored_format.h"

namespace perfcast::ai {
namespace {

EngineWork work_of(const char* model, int64_t devices = 1, Precision weights = Precision::kBf16) {
  EngineRequest request;
  request.prompt_tokens = 256;
  request.output_tokens = 128;
  request.tensor_parallel = devices;
  request.weights = weights;
  const auto config = built_in_model(model);
  EXPECT_TRUE(config) << model;
  auto work = engine_work(*config, request);
  EXPECT_TRUE(work) << to_text(work.error());
  return *work;
}

// 32 layers of 4,096 x (4,096 + 2 x 1,024) + 4,096^2 + 3 x 4,096 x 14,336 weights, and 128,256 x 4,096 of the head.
TEST(EngineWork, OfADenseModel) {
  const EngineWork work = work_of("llama3.1-8b");
  const double layer = 4096.0 * 6144 + 4096.0 * 4096 + 3 * 4096.0 * 14336;
  EXPECT_EQ(work.dense_bytes, 32 * layer * 2);
  EXPECT_EQ(work.weight_bytes(1), work.dense_bytes);
  EXPECT_EQ(work.head_bytes, 128256.0 * 4096 * 2);
  EXPECT_EQ(work.product_flops, 2 * 32 * layer);
  EXPECT_EQ(work.product_fill_flops, 2 * 32.0 * (6144 + 4096 + 2 * 14336 + 4096));
  EXPECT_EQ(work.kernels_per_layer, 2);
  EXPECT_EQ(work.cache_bytes_per_token, 2 * 8 * 128 * 2);
  EXPECT_EQ(work.attention_flops_per_key, 4 * 32 * 128);
  EXPECT_EQ(work.activation_bytes_per_token, 2 * 32.0 * (8 * 4096 + 4 * 4096 + 3 * 48 * 128 + 6 * 14336));
  EXPECT_EQ(work.context_tokens(), 320);
  EXPECT_EQ(work.unmeasured, 0U);
  const EngineWork half = work_of("llama3.1-8b", 2);
  EXPECT_EQ(half.dense_bytes, work.dense_bytes / 2);
  EXPECT_EQ(half.heads, 16);
  EXPECT_EQ(half.kv_heads, 4);
}

TEST(EngineWork, KeyValueHeadsAreRepeated) {
  const EngineWork work = work_of("gemma2-2b", 8);
  EXPECT_EQ(work.heads, 1);
  EXPECT_EQ(work.kv_heads, 1);  // of four: two devices hold each
  EXPECT_EQ(work.kernels_per_layer, 4);
  EXPECT_EQ(work.windowed_layers, 13);
}

TEST(EngineWork, ExpertsThatAStepReads) {
  const EngineWork work = work_of("mixtral-8x7b");
  const double expert = 3 * 4096.0 * 14336 * 2;
  EXPECT_DOUBLE_EQ(work.expert_bytes, 32 * 8 * expert);
  EXPECT_DOUBLE_EQ(work.weight_bytes(1) - work.dense_bytes, 32 * 2 * expert);
  EXPECT_NEAR(work.weight_bytes(1000) - work.dense_bytes, 32 * 8 * expert, 1);
  EXPECT_EQ(work.unmeasured, kUnmeasuredExperts);
  EXPECT_EQ(work.expert_layers, 32);
  EXPECT_EQ(work.expert_flops, 2 * 32 * 2 * 3 * 4096.0 * 14336);
  EXPECT_EQ(work.kernels_per_layer, 2 + 5);
}

TEST(EngineWork, NarrowValuesAreScaled) {
  EngineRequest request;
  request.prompt_tokens = 256;
  request.weights = request.activations = Precision::kFp8;
  EXPECT_EQ(engine_work(*built_in_model("llama3.1-8b"), request)->kernels_per_layer, 2 + 4);
}

TEST(EngineWork, LatentsHaveKernelsOfTheirOwn) {
  EXPECT_EQ(work_of("deepseek-v2-lite").kernels_per_layer, 2 + 11 + 5 * 26.0 / 27);
}

// nvfp4 keeps attention in 16 bits: only two products of a layer have their values scaled.
TEST(EngineWork, ProductsInFourBits) {
  LlmConfig config = *built_in_model("deepseek-v3");
  EngineRequest request;
  request.prompt_tokens = 100;
  request.activations = Precision::kFp8;
  const auto in_8_bits = engine_work(config, request);
  ASSERT_TRUE(in_8_bits) << to_text(in_8_bits.error());
  EXPECT_FALSE(in_8_bits->request.products_in_4_bits);
  EXPECT_DOUBLE_EQ(in_8_bits->special_kernels_per_layer, 11 + 4 + 5 * 58.0 / 61);
  config.stored_precision = Precision::kBf16;
  store_quantised({.name = "nvfp4", .bits = 4.5, .activations = Precision::kFp8, .kept_attention = 1}, config);
  const auto in_4_bits = engine_work(config, request);
  ASSERT_TRUE(in_4_bits);
  EXPECT_TRUE(in_4_bits->request.products_in_4_bits);
  EXPECT_DOUBLE_EQ(in_4_bits->special_kernels_per_layer, 11 + 2 + 5 * 58.0 / 61);
}

TEST(EngineWork, RanksHoldAPartOfTheExpertsAndStagesOfTheLayers) {
  EngineRequest request;
  request.prompt_tokens = 256;
  request.expert_ranks = 4;
  const LlmConfig config = *built_in_model("mixtral-8x7b");
  const EngineWork all = work_of("mixtral-8x7b"), rank = *engine_work(config, request);
  EXPECT_DOUBLE_EQ(rank.expert_bytes, all.expert_bytes / 4);
  EXPECT_DOUBLE_EQ(rank.dense_bytes, all.dense_bytes);
  EXPECT_DOUBLE_EQ(rank.resident_bytes, all.resident_bytes - 0.75 * all.expert_bytes);
  EXPECT_DOUBLE_EQ(rank.expert_flops, 2.0 * 32 * 2 * 3 * 4096 * 14336);
  EXPECT_EQ(rank.expert_layers, 32);
  EXPECT_NEAR(rank.busiest_rank, 1.0494, 1e-3);  // Blom: the normal quantile of 3.625 / 4.25
  EXPECT_EQ(all.busiest_rank, 0);
  request.expert_ranks = 3;
  EXPECT_EQ(engine_work(config, request).error().where, "data-parallel");
  request.expert_ranks = 1;
  request.pipeline_stages = 4;
  EXPECT_DOUBLE_EQ(engine_work(config, request)->resident_bytes, all.resident_bytes / 4);
  request.pipeline_stages = 33;
  EXPECT_EQ(engine_work(config, request).error().where, "pipeline-parallel");
}

TEST(EngineWork, WhatNoRunCovers) {
  EXPECT_EQ(work_of("llama3.1-8b", 1, Precision::kInt4).unmeasured, kUnmeasuredPrecision);
  const EngineWork latent = work_of("deepseek-v3");
  EXPECT_EQ(latent.unmeasured & (kUnmeasuredExperts | kUnmeasuredLatentAttention),
            kUnmeasuredExperts | kUnmeasuredLatentAttention);
  EXPECT_EQ(latent.cache_bytes_per_token, 576 * 2);
  EXPECT_EQ(unmeasured_in_words(kUnmeasuredExperts | kUnmeasuredBatch), "mixture of experts; several requests at once");
  EXPECT_EQ(unmeasured_in_words(0), "");
}

TEST(EngineWork, SamplersByTheMakersConfigurations) {
  const auto defaults = [](const char* model) { return sampler_defaults(*built_in_model(model)); };
  EXPECT_TRUE(defaults("qwen2.5-0.5b").truncates);
  EXPECT_TRUE(defaults("qwen2.5-0.5b").penalises);
  EXPECT_TRUE(defaults("llama3.1-8b").truncates);
  EXPECT_FALSE(defaults("llama3.1-8b").penalises);
  EXPECT_FALSE(defaults("gemma2-2b").truncates);
  EXPECT_FALSE(defaults("smollm2-135m").truncates);
}

TEST(EngineWork, Refused) {
  EngineRequest request;
  const auto config = built_in_model("llama3.1-8b");
  EXPECT_EQ(engine_work(*config, request).error().where, "prompt-tokens");
  request.prompt_tokens = 10;
  request.output_tokens = 0;
  EXPECT_EQ(engine_work(*config, request).error().where, "output-tokens");
  request.output_tokens = 10;
  request.tensor_parallel = 5;
  EXPECT_EQ(engine_work(*config, request).error().where, "tensor-parallel");
  request.tensor_parallel = 1;
  EXPECT_EQ(engine_work(*built_in_model("bert-base"), request).error().code, "no-decoder");
}

}  // namespace
}  // namespace perfcast::ai
