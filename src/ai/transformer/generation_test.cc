#include "ai/transformer/generation.h"

#include <gtest/gtest.h>

#include <map>

#include "ai/transformer/testing/reference_transformer.h"

namespace perfcast::ai {
namespace {

Transformer made(int64_t slots, int threads, Precision precision = Precision::kFp32) {
  TransformerOptions options;
  options.slots = slots;
  options.threads = threads;
  options.precision = precision;
  options.context = 64;
  auto transformer = Transformer::random(small_transformer(false), 3, options);
  EXPECT_TRUE(transformer);
  return std::move(*transformer);
}

std::vector<GenerationRequest> some_requests(double temperature) {
  std::vector<GenerationRequest> requests;
  for (size_t i = 0; i < 7; ++i) {
    GenerationRequest request;
    for (size_t t = 0; t < 3 + 4 * i; ++t) request.prompt.push_back(static_cast<int32_t>((i * 31 + t * 7) % 150));
    request.new_tokens = static_cast<int64_t>(2 + 3 * i);
    request.sampling = {temperature, 20, i};
    requests.push_back(std::move(request));
  }
  return requests;
}

std::vector<std::vector<int32_t>> tokens_of(Transformer transformer, const std::vector<GenerationRequest>& requests) {
  std::vector<std::vector<int32_t>> tokens(requests.size());
  const auto status = generate(transformer, requests, [&](size_t request, int64_t index, int32_t token) {
    EXPECT_EQ(index, static_cast<int64_t>(tokens[request].size()));
    tokens[request].push_back(token);
    return true;
  });
  EXPECT_TRUE(status) << to_text(status.error());
  return tokens;
}

TEST(Generation, RequestsGetTheirTokensWhateverTheThreads) {
  for (const Precision precision : {Precision::kFp32, Precision::kInt8}) {
    for (const double temperature : {0.0, 0.8}) {
      const auto requests = some_requests(temperature);
      const auto expected = tokens_of(made(3, 1, precision), requests);
      for (size_t i = 0; i < requests.size(); ++i) {
        EXPECT_EQ(static_cast<int64_t>(expected[i].size()), requests[i].new_tokens);
      }
      EXPECT_EQ(tokens_of(made(3, 3, precision), requests), expected);
    }
  }
}

TEST(Generation, GreedyTokensAreThoseOfTheReference) {
  const TransformerModel model = small_transformer(false);
  const RandomWeights weights(model.config.layers, 3);
  const ReferenceTransformer reference(model, weights, false);
  std::vector<GenerationRequest> requests = some_requests(0);
  requests.resize(2);
  const auto tokens = tokens_of(made(2, 2), requests);
  for (size_t i = 0; i < requests.size(); ++i) {
    std::vector<int32_t> sequence = requests[i].prompt;
    for (const int32_t token : tokens[i]) {
      const auto logits = reference.logits(sequence);
      EXPECT_EQ(token, std::max_element(logits.begin(), logits.end()) - logits.begin());
      sequence.push_back(token);
    }
  }
}

TEST(Generation, ARequestEndsWhenNobodyWantsMore) {
  Transformer transformer = made(1, 1);
  std::map<size_t, int64_t> counts;
  ASSERT_TRUE(generate(transformer, some_requests(0), [&](size_t request, int64_t index, int32_t) {
    ++counts[request];
    return index < 1;
  }));
  for (size_t i = 0; i < 7; ++i) EXPECT_EQ(counts[i], 2);
}

TEST(Generation, WhatDoesNotFitIsRefusedBeforeAnyToken) {
  Transformer transformer = made(2, 1);
  auto requests = some_requests(0);
  requests[6].new_tokens = 64 - 27 + 2;
  const auto nobody = [](size_t, int64_t, int32_t) {
    ADD_FAILURE();
    return true;
  };
  const auto status = generate(transformer, requests, nobody);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code + " " + status.error().where, "bad-usage request 6");
  requests[0].prompt.clear();
  EXPECT_EQ(generate(transformer, requests, nobody).error().where, "request 0");
  requests = some_requests(0);
  requests[2].prompt[1] = 150;
  const auto bad = generate(transformer, requests, nobody);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code + " " + bad.error().where, "bad-token request 2");
}

TEST(Generation, RequestsMayComeBetweenSteps) {
  const auto requests = some_requests(0);
  const auto expected = tokens_of(made(7, 1), requests);
  Transformer transformer = made(2, 1);
  GenerationQueue queue(transformer);
  std::vector<std::vector<int32_t>> tokens(7);
  size_t added = 0;
  for (int step = 0; step < 1000 && (added < 7 || !queue.is_idle()); ++step) {
    if (step % 3 == 0 && added < 7) {
      const auto number = queue.add(requests[added]);
      ASSERT_TRUE(number);
      EXPECT_EQ(*number, added++);
    }
    ASSERT_TRUE(queue.step([&](size_t request, int64_t, int32_t token) {
      tokens[request].push_back(token);
      return true;
    }));
    EXPECT_LE(queue.active(), 2u);
  }
  EXPECT_EQ(tokens, expected);
}

TEST(Generation, SlotsOfAStepThatFailedAreFreeBehindClear) {
  const auto requests = some_requests(0);
  Transformer transformer = made(2, 1);
  GenerationQueue queue(transformer);
  const auto keep = [](size_t, int64_t, int32_t) { return true; };
  for (int run = 0; run < 2; ++run) {
    for (size_t i = 0; i < 3; ++i) ASSERT_TRUE(queue.add(requests[i]));
    ASSERT_TRUE(queue.step(keep));
    ASSERT_EQ(queue.active(), 2u);
    for (int64_t slot = 0; slot < 2; ++slot) transformer.assume_length(slot, 64);  // full: the next token has no room
    EXPECT_EQ(queue.step(keep).error().code, "context-full");
    queue.clear();
    EXPECT_TRUE(queue.is_idle());
  }
}

}  // namespace
}  // namespace perfcast::ai
