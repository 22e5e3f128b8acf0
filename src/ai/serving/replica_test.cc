// The simulator against one that goes through every sequence in every step, on random traces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>
#include <vector>

#include "ai/serving/serve.h"

namespace perfcast::ai {
namespace {

class ContextTime final : public BatchTime {
 public:
  double seconds(const StepBatch& batch) const override {
    return 0.002 + 1e-4 * static_cast<double>(batch.decodes) + 1e-7 * batch.decode_context_tokens +
           1e-5 * batch.prefill_tokens + 1e-8 * batch.prefill_pairs;
  }
};

struct Plain {
  double first_s = NAN, last_s = NAN;
  int preemptions = 0;
};

// One replica, chunked prefill, no prefixes: written for plainness, not for speed.
std::vector<Plain> plain_serve(const ServingTrace& trace, const EngineLimits& limits, const BatchTime& times) {
  struct Running {
    size_t request;
    int64_t to_compute, computed = 0, generated = 0, blocks = 0;
    bool decodes() const { return computed >= to_compute; }
    int64_t context = 0;  // with keys in the cache
  };
  std::vector<Plain> out(trace.requests.size());
  std::vector<int64_t> generated(trace.requests.size(), 0);
  std::deque<size_t> waiting;
  std::vector<Running> running;
  const auto blocks_of = [&](int64_t tokens) { return (tokens + limits.block_tokens - 1) / limits.block_tokens; };
  int64_t free = limits.cache_tokens / limits.block_tokens;
  size_t next = 0;
  double now = 0;
  double steps = 0, advanced = 0;  // that generated
  const auto preempt = [&] {
    const Running& last = running.back();
    free += last.blocks;
    generated[last.request] = last.generated;
    ++out[last.request].preemptions;
    waiting.push_front(last.request);
    running.pop_back();
  };
  while (next < trace.requests.size() || !waiting.empty() || !running.empty()) {
    while (next < trace.requests.size() && trace.requests[next].arrival_s <= now) waiting.push_back(next++);
    if (waiting.empty() && running.empty()) {
      now = trace.requests[next].arrival_s;
      continue;
    }
    StepBatch batch;
    bool calm = true;
    const auto advance = static_cast<int64_t>((steps + 1) * limits.tokens_per_step() - advanced + 1e-9);
    const auto missing = [&] {
      int64_t blocks = 0;
      for (const Running& one : running) {
        if (one.decodes()) blocks += blocks_of(one.context + advance) - one.blocks;
      }
      return blocks;
    };
    while (missing() > free) {
      preempt();
      calm = false;
    }
    for (Running& one : running) {
      if (!one.decodes()) continue;
      const int64_t blocks = blocks_of(one.context + advance) - one.blocks;
      free -= blocks;
      one.blocks += blocks;
      ++batch.decodes;
      batch.decode_context_tokens += static_cast<double>(one.context + 1);
    }
    int64_t budget = limits.step_tokens - (1 + limits.draft_tokens) * batch.decodes;
    if (batch.decodes > 0) {
      steps += 1;
      advanced += static_cast<double>(advance);
    }
    std::vector<int64_t> chunks(running.size(), 0);
    const auto add = [&](const Running& one, int64_t tokens) {
      const double done = static_cast<double>(one.computed), own = static_cast<double>(tokens);
      batch.prefill_tokens += own;
      batch.prefill_pairs += own * done + own * (own + 1) / 2;
    };
    for (size_t i = 0; i < running.size(); ++i) {
      Running& one = running[i];
      if (one.decodes()) continue;
      const int64_t tokens = std::min(budget, one.to_compute - one.computed);
      if (tokens == 0) break;
      chunks[i] = tokens;
      budget -= tokens;
      add(one, tokens);
    }
    while (calm && budget > 0 && !waiting.empty() && static_cast<int64_t>(running.size()) < limits.max_sequences) {
      const size_t request = waiting.front();
      Running one{.request = request, .to_compute = trace.requests[request].prompt_tokens + generated[request]};
      one.generated = generated[request];
      const int64_t tokens = std::min(budget, one.to_compute), blocks = blocks_of(one.to_compute);
      const double share = running.empty() ? 0 : limits.cache_reserve_share;
      const auto reserve = static_cast<int64_t>(share * static_cast<double>(limits.cache_tokens / limits.block_tokens));
      if (blocks + reserve > free) break;
      waiting.pop_front();
      free -= blocks;
      one.blocks = blocks;
      running.push_back(one);
      chunks.push_back(tokens);
      budget -= tokens;
      add(one, tokens);
    }
    now += times.seconds(batch);
    for (size_t i = 0; i < running.size(); ++i) {
      Running& one = running[i];
      if (one.decodes()) {
        one.context += advance;
        one.generated += advance;
      } else if (chunks[i] > 0) {
        one.computed += chunks[i];
        if (!one.decodes()) continue;
        one.context = one.to_compute;
        ++one.generated;
        if (std::isnan(out[one.request].first_s)) out[one.request].first_s = now;
      } else {
        continue;
      }
      if (one.generated >= trace.requests[one.request].output_tokens) out[one.request].last_s = now;
    }
    std::erase_if(running, [&](const Running& one) {
      const bool ended = one.generated >= trace.requests[one.request].output_tokens;
      if (ended) free += one.blocks;
      return ended;
    });
  }
  return out;
}

TEST(Replica, AsOneThatGoesThroughEverySequence) {
  std::mt19937_64 random(1);
  const auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  const ContextTime times;
  int64_t preemptions = 0;
  for (int round = 0; round < 200; ++round) {
    ServeOptions options;
    options.limits = {.max_sequences = draw(1, 20), .step_tokens = 0, .cache_tokens = 0, .block_tokens = draw(1, 16)};
    options.limits.draft_tokens = draw(0, 1) * draw(0, 5);
    options.limits.acceptance = 0.1 * static_cast<double>(draw(0, 10));
    options.limits.step_tokens = (1 + options.limits.draft_tokens) * options.limits.max_sequences + draw(0, 100);
    options.limits.cache_tokens = draw(150, 600) + options.limits.block_tokens;
    options.limits.cache_reserve_share = 0.125 * static_cast<double>(draw(0, 1) * draw(1, 7));
    options.limits.prefix_cache = draw(0, 1) == 1;
    ServingTrace trace;
    double at_s = 0;
    for (int64_t i = draw(1, 60); i > 0; --i) {
      at_s += 0.001 * static_cast<double>(draw(0, 40));
      trace.requests.push_back({.arrival_s = at_s, .prompt_tokens = draw(1, 90), .output_tokens = draw(1, 50)});
    }
    const Result<ServeRun> run = serve(trace, options, times);
    ASSERT_TRUE(run) << to_text(run.error());
    ASSERT_EQ(run->finished, static_cast<int64_t>(trace.requests.size()));
    const std::vector<Plain> plain = plain_serve(trace, options.limits, times);
    double tokens = 0;
    for (size_t i = 0; i < plain.size(); ++i) {
      ASSERT_NEAR(run->outcomes[i].first_token_s, plain[i].first_s, 1e-9) << "round " << round << ", request " << i;
      ASSERT_NEAR(run->outcomes[i].last_token_s, plain[i].last_s, 1e-9) << "round " << round << ", request " << i;
      ASSERT_EQ(run->outcomes[i].preemptions, plain[i].preemptions);
      tokens += static_cast<double>(trace.requests[i].output_tokens);
      preemptions += plain[i].preemptions;
    }
    EXPECT_DOUBLE_EQ(run->counts.generated_tokens, tokens);
    // Every token but a request's first follows another one.
    if (options.limits.draft_tokens > 0) continue;
    EXPECT_EQ(run->counts.gaps.count(), static_cast<int64_t>(tokens) - run->finished);
  }
  EXPECT_GT(preemptions, 50);
}

TEST(Replica, PrefixesShortenPromptsAndLoseNoBlock) {
  std::mt19937_64 random(2);
  const auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  const ContextTime times;
  double cached = 0;
  for (int round = 0; round < 100; ++round) {
    ServeOptions options;
    options.limits = {
        .max_sequences = draw(1, 12), .step_tokens = 128, .cache_tokens = draw(200, 500), .block_tokens = 4};
    options.limits.chunked_prefill = draw(0, 2) > 0;
    options.replicas = draw(1, 3);
    options.router = Router::kPrefixAware;
    options.concurrency = draw(0, 1) * draw(1, 20);
    ServingTrace trace;
    trace.hash_block_tokens = 8;
    double at_s = 0;
    for (int64_t i = draw(1, 80); i > 0; --i) {
      at_s += 0.001 * static_cast<double>(draw(0, 20));
      const int64_t prompt = draw(1, 70);
      const auto begin = static_cast<uint32_t>(trace.hashes.size());
      uint64_t hash = static_cast<uint64_t>(draw(1, 3));
      for (int64_t block = 0; block < (prompt + 7) / 8; ++block) {
        trace.hashes.push_back(hash);
        hash = 31 * hash + static_cast<uint64_t>(draw(0, 9) == 0);
      }
      trace.requests.push_back({.arrival_s = at_s,
                                .prompt_tokens = prompt,
                                .output_tokens = draw(1, 50),
                                .priority = static_cast<int32_t>(draw(0, 1)),
                                .prefix = {begin, static_cast<uint32_t>(trace.hashes.size()) - begin}});
    }
    const Result<ServeRun> run = serve(trace, options, times);
    ASSERT_TRUE(run) << to_text(run.error());
    ASSERT_EQ(run->finished + run->refused, static_cast<int64_t>(trace.requests.size()));
    cached += run->counts.cached_tokens;
    double tokens = 0;
    for (size_t i = 0; i < trace.requests.size(); ++i) {
      if (!run->outcomes[i].refused) tokens += static_cast<double>(trace.requests[i].output_tokens);
    }
    EXPECT_DOUBLE_EQ(run->counts.generated_tokens, tokens);
    EXPECT_LE(run->counts.most_used_blocks, run->cache_blocks);
  }
  EXPECT_GT(cached, 1000);
}

}  // namespace
}  // namespace perfcast::ai
