#include "ai/serving/engine_step_time.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/engine/testing/test_engine.h"

namespace perfcast::ai {
namespace {

// One sequence is the engine's single stream.
TEST(EngineStepTime, ASingleSequenceTakesWhatTheEngineTakes) {
  const EngineProfile profile = engine_test::profile();
  const EngineWork work = engine_test::work();
  const DeviceFacts device = engine_test::device();
  const EngineHost host = engine_test::host();
  const EngineStepTime times(profile, work, device, host);
  EXPECT_DOUBLE_EQ(times.seconds({.decodes = 1, .decode_context_tokens = 1000}),
                   engine_token_time(profile, work, device, host).seconds);
  const EngineStepTime slow(profile, work, device, host, {.tokens = 2, .prompts = 3});
  EXPECT_DOUBLE_EQ(slow.seconds({.decodes = 1, .decode_context_tokens = 1000}),
                   2 * times.seconds({.decodes = 1, .decode_context_tokens = 1000}));
  const StepBatch prompt{.prefills = 1, .prefill_tokens = 900, .prefill_pairs = 405450};
  EXPECT_DOUBLE_EQ(slow.seconds(prompt), 3 * times.seconds(prompt));
}

TEST(EngineStepTime, AFurtherSequenceCostsItsCacheAndNoWeights) {
  const EngineProfile profile = engine_test::profile();
  EngineWork work = engine_test::work();
  work.product_flops = 0;
  const DeviceFacts device = engine_test::device();
  const EngineHost host = engine_test::host(1000);  // never waited for
  const EngineStepTime times(profile, work, device, host);
  const double one = times.seconds({.decodes = 1, .decode_context_tokens = 1000});
  // Ten layers of 1,024 bytes a token, at half of 1 TB/s.
  EXPECT_NEAR(times.seconds({.decodes = 2, .decode_context_tokens = 2000}) - one, 10 * 1024 * 1000 / 0.5e12, 1e-12);
}

TEST(EngineStepTime, SequencesAndPromptsCostTheHostTime) {
  EngineProfile profile = engine_test::profile(), dear = profile;
  profile.overlaps_host = dear.overlaps_host = false;
  dear.constants.host_sequence_us = 50;
  dear.constants.prompt_step_ms = 4;
  const EngineWork work = engine_test::work();
  const DeviceFacts device = engine_test::device();
  const EngineHost host = engine_test::host(2);
  const EngineStepTime times(profile, work, device, host), more(dear, work, device, host);
  const StepBatch one{.decodes = 1, .decode_context_tokens = 1000}, three{.decodes = 3, .decode_context_tokens = 3000};
  EXPECT_DOUBLE_EQ(more.seconds(one), times.seconds(one));
  EXPECT_NEAR(more.seconds(three) - times.seconds(three), 50e-6, 1e-12);
  const StepBatch prompt{.prefills = 1, .prefill_tokens = 900, .prefill_pairs = 405450};
  EXPECT_NEAR(more.seconds(prompt) - times.seconds(prompt), 2e-3, 1e-12);
  // What a single stream's first token takes stays the same.
  EXPECT_NEAR(front_end_time(profile, host).fixed_s - front_end_time(dear, host).fixed_s, 2e-3, 1e-12);
}

TEST(EngineStepTime, BesidePromptsOlderKernelsReadKeysForEachHead) {
  EngineProfile profile = engine_test::profile();
  profile.constants.prefill_attention_share = 1;
  EngineWork work = engine_test::work();  // 8 heads, 2 of keys and values
  DeviceFacts device = engine_test::device();
  const EngineHost host = engine_test::host(1000);
  const StepBatch prompt{.prefills = 1, .prefill_tokens = 100, .prefill_pairs = 5050};
  StepBatch beside = prompt;
  const auto further_s = [&](double context) {
    const EngineStepTime times(profile, work, device, host);
    beside.decodes = 100;
    beside.decode_context_tokens = 100 * context;
    const double with = times.seconds(beside);
    beside.decode_context_tokens = 0;
    return with - times.seconds(beside);
  };
  const double once = 10 * 1024 * 100 * 1000 / 0.5e12;  // the cache of 100 sequences
  EXPECT_NEAR(further_s(1000), once, 1e-9);
  device.generation = "ampere";
  EXPECT_NEAR(further_s(1000), 4 * once, 1e-9);
}

TEST(EngineStepTime, LimitsFollowFromMemory) {
  const EngineProfile profile = engine_test::profile();
  EngineWork work = engine_test::work();
  work.resident_bytes = 1e9;
  const auto limits = default_limits(profile, work, engine_test::device());
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->cache_tokens, static_cast<int64_t>(71e9 / 10240));
  EXPECT_EQ(limits->step_tokens, 8192);
  EXPECT_EQ(limits->max_sequences, 256);
  // Half of the layers see 110 tokens of 1,100.
  work.windowed_layers = 5;
  work.window_tokens = 110;
  EXPECT_EQ(default_limits(profile, work, engine_test::device())->cache_tokens,
            static_cast<int64_t>(71e9 / (1024 * (5 + 0.5))));
  work.resident_bytes = 73e9;
  EXPECT_EQ(default_limits(profile, work, engine_test::device()).error().code, "no-memory");
  DeviceFacts unknown = engine_test::device();
  unknown.memory_bytes = kUnknown;
  EXPECT_EQ(default_limits(profile, work, unknown).error().code, "unknown-fact");
}

TEST(EngineStepTime, EachGuessTakesItsShareOfAStep) {
  const EngineProfile profile = engine_test::profile();
  const EngineWork work = engine_test::work();
  const DeviceFacts device = engine_test::device();
  const EngineHost host = engine_test::host();
  const EngineStepTime plain(profile, work, device, host), guesses(profile, work, device, host, {}, {4, 0.1});
  const StepBatch one{.decodes = 1, .decode_context_tokens = 1000};
  StepBatch checked = one;
  checked.tokens_per_decode = 5;
  EXPECT_DOUBLE_EQ(guesses.seconds(checked), plain.seconds(checked) + 0.4 * plain.seconds(one));
}

TEST(EngineStepTime, EnergyIsTheBoardsPowerByItsLoad) {
  const EngineProfile profile = engine_test::profile();
  const EngineWork work = engine_test::work();
  DeviceFacts device = engine_test::device();
  const EngineHost host = engine_test::host();
  const StepBatch one{.decodes = 1, .decode_context_tokens = 1000};
  const EngineStepTime unknown(profile, work, device, host);
  EXPECT_TRUE(std::isnan(unknown.joules(one, 0.01)));
  device.power_w = 400;
  const EngineStepTime times(profile, work, device, host);
  const double compute = (800e6 + 4096 * 10000.0) / 1e14 / 0.01, memory = (840e6 + 1024 * 10000.0) / 1e12 / 0.01;
  EXPECT_NEAR(times.joules(one, 0.01), 400 * 0.01 * (0.175 + 1.18 * compute + 0.67 * memory), 1e-9);
  EXPECT_DOUBLE_EQ(idle_power_w(work, device), 70);
}

TEST(EngineStepTime, TheFrontEndIsAsFastAsItsHost) {
  const FrontEndTime time = front_end_time(engine_test::profile(), engine_test::host(2), {.prompts = 3});
  EXPECT_NEAR(time.fixed_s, 0.015, 1e-12);
  EXPECT_NEAR(time.prompt_token_s, 6e-6, 1e-15);
}

}  // namespace
}  // namespace perfcast::ai
