#include "ai/transformer/transformer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "ai/transformer/kernel/transformer_kernels.h"
#include "ai/transformer/testing/reference_transformer.h"
#include "machine/ceiling/free_memory.h"

namespace perfcast::ai {
namespace {

constexpr uint64_t kSeed = 7;

std::vector<int32_t> some_tokens(size_t count, int64_t vocab) {
  std::vector<int32_t> tokens(count);
  for (size_t i = 0; i < count; ++i) tokens[i] = static_cast<int32_t>((i * 37 + 11) % static_cast<size_t>(vocab));
  return tokens;
}

Transformer small(bool tied, Precision precision, TransformerOptions options = {}) {
  options.precision = precision;
  auto made = Transformer::random(small_transformer(tied), kSeed, options);
  EXPECT_TRUE(made) << to_text(made.error());
  return std::move(*made);
}

std::vector<float> logits_of(Transformer& transformer, int64_t slot, std::span<const int32_t> tokens) {
  std::vector<float> logits(static_cast<size_t>(transformer.model().config.vocab));
  const SlotTokens prompt{slot, tokens};
  const auto status = transformer.prefill({&prompt, 1}, logits);
  EXPECT_TRUE(status) << to_text(status.error());
  return logits;
}

double largest_difference(std::span<const float> a, std::span<const double> b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}
double largest_difference(std::span<const float> a, std::span<const float> b) {
  return largest_difference(a, std::vector<double>(b.begin(), b.end()));
}

// Logits are of deviation 1, about.
TEST(Transformer, LogitsAreThoseOfThePlainForwardPassWithAnyKernels) {
  for (const bool tied : {false, true}) {
    const TransformerModel model = small_transformer(tied);
    const RandomWeights weights(model.config.layers, kSeed);
    const ReferenceTransformer reference(model, weights, false);
    for (const size_t length : {size_t{1}, size_t{5}, size_t{9}, size_t{70}}) {
      const auto tokens = some_tokens(length, model.config.vocab);
      const auto expected = reference.logits(tokens);
      for (const TransformerKernels* kernels : transformer_kernels()) {
        TransformerOptions options;
        options.kernels = kernels;
        Transformer transformer = small(tied, Precision::kFp32, options);
        EXPECT_LT(largest_difference(logits_of(transformer, 0, tokens), expected), 2e-5) << kernels->isa << length;
      }
    }
  }
}

// Weights are rounded in the reference, too; what is left is rounding activations to 127 steps of their largest.
TEST(Transformer, LogitsOfBytesAreThoseOfRoundedWeightsWithinTheirBound) {
  for (const bool tied : {false, true}) {
    const TransformerModel model = small_transformer(tied);
    const RandomWeights weights(model.config.layers, kSeed);
    const ReferenceTransformer rounded(model, weights, true), exact(model, weights, false);
    for (const size_t length : {size_t{1}, size_t{20}}) {
      const auto tokens = some_tokens(length, model.config.vocab);
      const auto expected = rounded.logits(tokens), unrounded = exact.logits(tokens);
      for (const TransformerKernels* kernels : transformer_kernels()) {
        TransformerOptions options;
        options.kernels = kernels;
        Transformer transformer = small(tied, Precision::kInt8, options);
        const auto logits = logits_of(transformer, 0, tokens);
        EXPECT_LT(largest_difference(logits, expected), 0.06) << kernels->isa;
        EXPECT_LT(largest_difference(logits, unrounded), 0.12) << kernels->isa;
      }
    }
  }
}

TEST(Transformer, APromptAtOnceIsThePromptTokenByToken) {
  for (const Precision precision : {Precision::kFp32, Precision::kInt8}) {
    const auto tokens = some_tokens(100, 150);
    Transformer at_once = small(false, precision), by_token = small(false, precision),
                in_parts = small(false, precision);
    const auto expected = logits_of(at_once, 0, tokens);
    std::vector<float> logits;
    for (const int32_t token : tokens) logits = logits_of(by_token, 0, {&token, 1});
    // Bytes' sums are exact, so that only attention, norms and rounding next to a half are left.
    EXPECT_LT(largest_difference(logits, expected), precision == Precision::kFp32 ? 1e-5 : 0.03);
    logits_of(in_parts, 0, std::span(tokens).first(33));
    EXPECT_LT(largest_difference(logits_of(in_parts, 0, std::span(tokens).subspan(33)), expected), 0.03);
    EXPECT_EQ(by_token.length(0), 100);
  }
}

TEST(Transformer, BitsDoNotDependOnThreadsNorOnOtherSlots) {
  const auto tokens = some_tokens(40, 150), others = some_tokens(17, 149);
  for (const Precision precision : {Precision::kFp32, Precision::kInt8}) {
    TransformerOptions options;
    options.slots = 3;
    Transformer one = small(true, precision, options);
    options.threads = 3;
    Transformer three = small(true, precision, options);
    const auto expected = logits_of(one, 0, tokens);
    EXPECT_EQ(logits_of(three, 2, tokens), expected);
    // Two prompts in one step, then a token each: few rows, as for one.
    const std::vector<SlotTokens> prompts = {{1, others}, {0, tokens}};
    std::vector<float> logits(300);
    three.shorten(2);
    ASSERT_TRUE(three.prefill(prompts, logits));
    const double near = precision == Precision::kFp32 ? 1e-5 : 0.03;  // the step has other rows
    EXPECT_LT(largest_difference(std::span(logits).subspan(150), expected), near);
    const int32_t next = 3;
    const auto after = logits_of(three, 0, {&next, 1});
    three.shorten(0, 40);
    const std::vector<SlotTokens> step = {{1, {&next, 1}}, {0, {&next, 1}}};
    ASSERT_TRUE(three.decode(step, logits));
    EXPECT_EQ(std::vector<float>(logits.begin() + 150, logits.end()), after);
  }
}

TEST(Transformer, LongPromptsTakeSeveralPasses) {
  TransformerOptions options;
  options.slots = 2;
  options.context = 400;
  Transformer transformer = small(false, Precision::kFp32, options);
  const auto tokens = some_tokens(400, 150);
  const std::vector<SlotTokens> prompts = {{0, tokens}, {1, std::span(tokens).first(390)}};
  std::vector<float> logits(300);
  ASSERT_TRUE(transformer.prefill(prompts, logits));
  Transformer alone = small(false, Precision::kFp32, options);
  const auto first = logits_of(alone, 0, tokens);
  EXPECT_LT(largest_difference(std::span(logits).first(150), first), 1e-5);
  const auto second = logits_of(alone, 1, std::span(tokens).first(390));
  EXPECT_LT(largest_difference(std::span(logits).subspan(150), second), 1e-5);
}

TEST(Transformer, ManySlotsStepTogether) {
  TransformerOptions options;
  options.slots = 20;
  options.context = 64;
  Transformer transformer = small(false, Precision::kInt8, options), alone = small(false, Precision::kInt8, options);
  const auto tokens = some_tokens(20, 150);
  std::vector<SlotTokens> step;
  for (int64_t slot = 0; slot < 20; ++slot)
    step.push_back({slot, std::span(tokens).subspan(static_cast<size_t>(slot), 1)});
  std::vector<float> logits(size_t{20} * 150);
  ASSERT_TRUE(transformer.decode(step, logits));
  for (size_t slot = 0; slot < 20; slot += 7) {
    const auto expected = logits_of(alone, static_cast<int64_t>(slot), std::span(tokens).subspan(slot, 1));
    EXPECT_LT(largest_difference(std::span(logits).subspan(slot * 150, 150), expected), 1e-4);
  }
}

TEST(Transformer, ShortenedSlotsGoOnFromThere) {
  Transformer transformer = small(false, Precision::kFp32), fresh = small(false, Precision::kFp32);
  const auto tokens = some_tokens(8, 150);
  logits_of(transformer, 0, tokens);
  transformer.shorten(0, 5);
  EXPECT_EQ(transformer.length(0), 5);
  logits_of(fresh, 0, std::span(tokens).first(5));
  const int32_t next = 9;
  EXPECT_EQ(logits_of(transformer, 0, {&next, 1}), logits_of(fresh, 0, {&next, 1}));
}

TEST(Transformer, WhatCannotBeAppendedIsRefusedAndNothingIs) {
  TransformerOptions options;
  options.context = 10;
  Transformer transformer = small(false, Precision::kFp32, options);
  const auto refused = [&](std::vector<SlotTokens> prompts, std::span<float> logits = {}) {
    const auto status = transformer.prefill(prompts, logits);
    EXPECT_FALSE(status);
    EXPECT_EQ(transformer.length(0), 0);
    return status ? std::string() : status.error().code;
  };
  const auto tokens = some_tokens(11, 150);
  const int32_t beyond = 150, negative = -1;
  const std::span<const int32_t> one = std::span(tokens).first(1);
  EXPECT_EQ(refused({{0, tokens}}), "context-full");
  EXPECT_EQ(refused({{0, {&beyond, 1}}}), "bad-token");
  EXPECT_EQ(refused({{0, {&negative, 1}}}), "bad-token");
  EXPECT_EQ(refused({{0, {}}}), "bad-token");
  EXPECT_EQ(refused({{1, one}}), "bad-slot");
  EXPECT_EQ(refused({{-1, one}}), "bad-slot");
  EXPECT_EQ(refused({{0, one}, {0, one}}), "bad-slot");
  std::vector<float> little(149);
  EXPECT_EQ(refused({{0, one}}, little), "bad-usage");
}

TEST(Transformer, OptionsAreChecked) {
  const TransformerModel model = small_transformer(false);
  const auto code = [&](auto change) {
    TransformerOptions options;
    change(options);
    const auto made = Transformer::random(model, 1, options);
    return made ? std::string() : made.error().code + " " + made.error().where;
  };
  EXPECT_EQ(code([](auto& options) { options.threads = 0; }), "bad-usage threads");
  EXPECT_EQ(code([](auto& options) { options.slots = 0; }), "bad-usage slots");
  EXPECT_EQ(code([](auto& options) { options.context = 513; }), "bad-usage context");
  EXPECT_EQ(code([](auto& options) { options.precision = Precision::kQ4_0; }), "bad-usage precision");
}

TEST(Transformer, WhatMemoryCannotHoldIsRefusedBeforeAnyIsTaken) {
  TransformerModel model = small_transformer(false);
  model.config.hidden = model.config.ffn = int64_t{1} << 24;
  const auto made = Transformer::random(model, 1, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "out-of-memory");
  EXPECT_EQ(made.error().kind, ErrorKind::kEnvironment);
}

// Heads of which a width of 16 has 65,536: weights of 1/16 of what queries, keys and values of a pass take.
TEST(Transformer, WhatAPassTakesCountsAsWeightsDo) {
  TransformerModel model = small_transformer(true);
  LlmConfig& config = model.config;
  config.hidden = config.head_dim = config.ffn = 16;
  config.layers = config.kv_heads = 1;
  config.heads = 65536;
  TransformerOptions options;
  options.context = 1;
  const TransformerMemory memory = memory_for(model, options);
  EXPECT_GT(memory.scratch_bytes, 2.0 * 512 * 65536 * 16 * sizeof(float));
  EXPECT_LT(memory.weights_bytes, memory.scratch_bytes / 10);
  config.heads = static_cast<int64_t>(free_memory_bytes() / (sizeof(float) * 512 * 16));
  const auto made = Transformer::random(model, 1, options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "out-of-memory");
  // Logits of all slots are the caller's, and there are 4,096 of them.
  config.heads = 1;
  config.vocab = int64_t{1} << 24;
  options.slots = 4096;
  EXPECT_GT(memory_for(model, options).scratch_bytes, 512.0 * (1 << 24) * sizeof(float));
}

TEST(Transformer, HoldsWhatWasForeseen) {
  for (const Precision precision : {Precision::kFp32, Precision::kInt8}) {
    for (const bool tied : {false, true}) {
      TransformerOptions options;
      options.precision = precision;
      options.slots = 3;
      options.context = 70;
      const TransformerModel model = small_transformer(tied);
      const auto made = Transformer::random(model, 1, options);
      ASSERT_TRUE(made);
      const TransformerMemory foreseen = memory_for(model, options), held = made->memory();
      EXPECT_EQ(held.cache_bytes, foreseen.cache_bytes);
      EXPECT_EQ(held.scratch_bytes, foreseen.scratch_bytes);
      EXPECT_LE(held.weights_bytes, foreseen.weights_bytes);
      EXPECT_GT(held.weights_bytes, 0.9 * foreseen.weights_bytes);
    }
  }
}

TEST(Transformer, TimesItsOperatorsWhereAsked) {
  Transformer transformer = small(false, Precision::kFp32);
  const auto tokens = some_tokens(30, 150);
  logits_of(transformer, 0, tokens);
  EXPECT_EQ(transformer.clock().sums().steps, 0);
  transformer.clock().turn_on();
  transformer.shorten(0);
  logits_of(transformer, 0, tokens);
  const OperatorSeconds& sums = transformer.clock().sums();
  EXPECT_EQ(sums.steps, 1);
  // Each operator that the analysis lists has its time; what a fused kernel does stands under its first.
  OperatorGraph graph;
  ASSERT_TRUE(build_operators(transformer.model().config, transformer.workload(LlmPhase::kPrefill, 1, 30), graph));
  for (const LlmOperator& op : graph) {
    if (op.name == OperatorName::kSoftmax || op.name == OperatorName::kValues) continue;
    EXPECT_GT(sums[op.name], 0) << name_of(op.name);
  }
}

TEST(Transformer, MemoryIsWhatItsWeightsAndCacheTake) {
  const auto model = built_in_transformer("perfcast-15m");
  ASSERT_TRUE(model);
  const auto parameters = count_parameters(model->config);
  ASSERT_TRUE(parameters);
  TransformerOptions options;
  options.slots = 2;
  options.context = 128;
  const auto floats = Transformer::random(*model, 1, options);
  ASSERT_TRUE(floats);
  EXPECT_EQ(floats->memory().weights_bytes, 4.0 * static_cast<double>(parameters->total));
  EXPECT_EQ(floats->memory().cache_bytes,
            4.0 * 2 * 128 * static_cast<double>(model->config.cache_values_per_token() * 8));
  options.precision = Precision::kInt8;
  const auto bytes = Transformer::random(*model, 1, options);
  ASSERT_TRUE(bytes);
  EXPECT_LT(bytes->memory().weights_bytes, 1.05 * static_cast<double>(parameters->total));
}

}  // namespace
}  // namespace perfcast::ai
