#include "ai/transformer/generation.h"

#include <gtest/gtest.h>

#include <map>

#include "ai/serving/replica.h"
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

std::vector<std::vector<int32_t>> tokens_in_chunks(Transformer transformer, int64_t step_tokens,
                                                   const std::vector<GenerationRequest>& requests) {
  GenerationQueue queue(transformer, {.chunked_prefill = true, .step_tokens = step_tokens});
  std::vector<std::vector<int32_t>> tokens(requests.size());
  for (const GenerationRequest& request : requests) EXPECT_TRUE(queue.add(request));
  while (!queue.is_idle()) {
    EXPECT_TRUE(queue.step([&](size_t request, int64_t, int32_t token) {
      tokens[request].push_back(token);
      return true;
    }));
    EXPECT_LE(queue.last_batch().tokens(), static_cast<double>(step_tokens));
  }
  return tokens;
}

TEST(Generation, PromptsInPiecesGiveTheSameTokens) {
  const auto requests = some_requests(0);
  const auto expected = tokens_of(made(3, 1), requests);
  for (const int64_t step_tokens : {3, 5, 8, 64}) {
    EXPECT_EQ(tokens_in_chunks(made(3, 1), step_tokens, requests), expected) << step_tokens;
  }
}

TEST(Generation, WhoIsCancelledLeavesItsSlotToOthers) {
  const auto requests = some_requests(0);
  const auto expected = tokens_of(made(3, 1), requests);
  Transformer transformer = made(1, 1);
  GenerationQueue queue(transformer, {.chunked_prefill = true, .step_tokens = 4});
  for (size_t i = 0; i < 3; ++i) ASSERT_TRUE(queue.add(requests[i + 3]));
  std::vector<std::vector<int32_t>> tokens(3);
  const auto keep = [&](size_t request, int64_t, int32_t token) {
    tokens[request].push_back(token);
    return true;
  };
  ASSERT_TRUE(queue.step(keep));  // a piece of the first one's prompt
  queue.cancel(0);
  queue.cancel(1);
  queue.cancel(1);
  EXPECT_EQ(queue.active() + queue.waiting(), 1u);
  while (!queue.is_idle()) ASSERT_TRUE(queue.step(keep));
  EXPECT_TRUE(tokens[0].empty() && tokens[1].empty());
  EXPECT_EQ(tokens[2], expected[5]);
}

// Says a second of each step, and keeps what it was made of.
class NotedSteps final : public BatchTime {
 public:
  double seconds(const StepBatch& batch) const override {
    last = batch;
    return 1;
  }
  mutable StepBatch last;
};

TEST(Generation, StepsAreThoseOfTheSimulatedEngine) {
  const auto requests = some_requests(0);
  ServingTrace trace;
  for (const GenerationRequest& request : requests) {
    trace.requests.push_back(
        {.prompt_tokens = static_cast<int64_t>(request.prompt.size()), .output_tokens = request.new_tokens});
  }
  for (const bool chunked : {true, false}) {
    for (const int64_t step_tokens : {3, 8, 20}) {
      Transformer transformer = made(3, 1);
      GenerationQueue queue(transformer, {.chunked_prefill = chunked, .step_tokens = step_tokens});
      EngineLimits limits;
      limits.max_sequences = 3;
      limits.step_tokens = chunked ? step_tokens : kPassRows;
      limits.cache_tokens = 3 * 64;
      limits.prefix_cache = false;
      limits.chunked_prefill = chunked;
      const NotedSteps times;
      std::vector<RequestOutcome> outcomes(requests.size());
      Replica replica(limits, times, trace, outcomes);
      std::vector<int32_t> ended;
      size_t added = 0;
      for (int step = 0; step < 1000 && (added < requests.size() || !queue.is_idle()); ++step) {
        if (step % 4 == 0 && added < requests.size()) {
          ASSERT_TRUE(queue.add(requests[added]));
          replica.add(static_cast<int32_t>(added++));
        }
        ASSERT_EQ(queue.is_idle(), replica.is_idle());
        if (queue.is_idle()) continue;
        ASSERT_EQ(replica.begin_step(step), 1);
        ASSERT_TRUE(queue.step([](size_t, int64_t, int32_t) { return true; }));
        replica.end_step(step + 1, ended);
        const StepBatch &real = queue.last_batch(), &simulated = times.last;
        EXPECT_EQ(real.decodes, simulated.decodes) << step;
        EXPECT_EQ(real.decode_context_tokens, simulated.decode_context_tokens) << step;
        EXPECT_EQ(real.prefills, simulated.prefills) << step;
        EXPECT_EQ(real.prefill_tokens, simulated.prefill_tokens) << step;
        EXPECT_EQ(real.prefill_pairs, simulated.prefill_pairs) << step;
        EXPECT_EQ(real.completed_prefills, simulated.completed_prefills) << step;
      }
      EXPECT_EQ(ended.size(), requests.size());
    }
  }
}

}  // namespace
}  // namespace perfcast::ai
