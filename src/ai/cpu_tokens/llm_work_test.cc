#include "ai/cpu_tokens/llm_work.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai {
namespace {

TEST(LlmWork, OfADecoderBySizes) {
  DecoderSizes sizes = {"small", 2, 8, 4, 2, 3, 16, 100, false, 10000, 4, 0.5};
  LlmWork work = work_of_decoder(sizes);
  // A layer: 2 x 8 x 12 for queries and output, 2 x 8 x 6 for keys and values, 3 x 8 x 16 for the feed-forward network.
  EXPECT_EQ(work.prefill_macs_per_token, 2 * (192 + 96 + 384));
  EXPECT_EQ(work.parameters, 1344 + 2 * 800);
  EXPECT_EQ(work.weight_bytes, 10000 - 400);
  EXPECT_EQ(work.kv_bytes_per_token, 2 * 2 * 6 * 2);
  EXPECT_EQ(work.attention_macs_per_token_token, 2 * 2 * 12);
  EXPECT_EQ(work.short_block_share, 0.5);
  sizes.tied_embedding = true;
  work = work_of_decoder(sizes);
  EXPECT_EQ(work.parameters, 1344 + 800);
  EXPECT_EQ(work.weight_bytes, 10000);
}

TEST(LlmWork, BenchmarkModelsHaveTheirPublishedNumberOfParameters) {
  const double published[] = {134.5e6, 620e6, 2.506e9, 6.74e9, 14.66e9, 70.55e9};
  ASSERT_EQ(benchmark_llms().size(), std::size(published));
  for (size_t i = 0; i < std::size(published); ++i) {
    const LlmWork& work = benchmark_llms()[i].work;
    EXPECT_NEAR(work.parameters / published[i], 1, 0.002) << work.name;
    EXPECT_TRUE(check_llm_work(work)) << work.name;
    // Four to seven bits a weight.
    EXPECT_GT(work.file_bytes * 8 / work.parameters, 4) << work.name;
    EXPECT_LT(work.file_bytes * 8 / work.parameters, 7) << work.name;
  }
}

TEST(LlmWork, NamesWhatIsWrong) {
  const LlmWork good = benchmark_llms()[0].work;
  const auto message = [&](auto&& spoil) {
    LlmWork work = good;
    spoil(work);
    const Status status = check_llm_work(work);
    return status ? std::string() : status.error().code + ": " + status.error().message;
  };
  EXPECT_EQ(message([](LlmWork&) {}), "");
  EXPECT_EQ(message([](LlmWork& w) { w.layers = 0; }), "bad-llm-work: the model's layers can't be used");
  EXPECT_EQ(message([](LlmWork& w) { w.weight_bytes = NAN; }), "bad-llm-work: the model's weight_bytes can't be used");
  EXPECT_EQ(message([](LlmWork& w) { w.kv_bytes_per_token = -1; }),
            "bad-llm-work: the model's kv_bytes_per_token can't be used");
  EXPECT_EQ(message([](LlmWork& w) { w.short_block_share = 1.5; }),
            "bad-llm-work: the model's short_block_share can't be used");
}

}  // namespace
}  // namespace perfcast::ai
