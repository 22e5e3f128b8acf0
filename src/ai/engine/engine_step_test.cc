#include "ai/engine/engine_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "ai/engine/testing/test_engine.h"
#include "base/statistics.h"

namespace perfcast::ai {
namespace {

using engine_test::device;
using engine_test::host;
using engine_test::profile;
using engine_test::work;

EngineForecast forecast_of(const EngineWork& asked, const DeviceFacts& on = device(), const EngineHost& under = host(),
                           const EngineProfile& engine = profile()) {
  const auto forecast = forecast_engine(engine, asked, on, under);
  EXPECT_TRUE(forecast) << to_text(forecast.error());
  return *forecast;
}

TEST(EngineToken, PartsByHand) {
  const EngineTokenTime time = forecast_of(work()).token;
  EXPECT_NEAR(time.weights_s, 840e6 / 0.8e12, 1e-12);
  // A step of 400,000 cycles, ten layers of 8 + 2 kernels of 5,000 cycles, at 1 GHz.
  EXPECT_NEAR(time.kernels_s, 0.9e-3, 1e-12);
  // Ten layers read 1,024 bytes of 1,000 tokens at 0.5 TB/s.
  EXPECT_NEAR(time.attention_s, 10 * 1024e3 / 0.5e12, 1e-12);
  EXPECT_EQ(time.all_reduce_s, 0);
  EXPECT_NEAR(time.device_s, 1.05e-3 + 0.9e-3 + 20.48e-6, 1e-12);
  EXPECT_NEAR(time.host_s, 2e-3, 1e-12);
  EXPECT_TRUE(time.host_bound());
  EXPECT_EQ(time.seconds, time.host_s);
}

TEST(EngineToken, TheDeviceCountsWhereItIsLonger) {
  EngineWork sampled = work();
  sampled.request.sampler = {true, true};
  const EngineTokenTime time = forecast_of(sampled, device(), host(2)).token;
  EXPECT_NEAR(time.kernels_s, 1.1e-3, 1e-12);   // 200,000 cycles to sort the vocabulary
  EXPECT_NEAR(time.host_s, 2.5e-3 / 2, 1e-12);  // with the penalty, on a host twice as fast
  EXPECT_EQ(time.seconds, time.device_s);
  EngineProfile waits = profile();
  waits.overlaps_host = false;
  EXPECT_NEAR(forecast_of(sampled, device(), host(2), waits).token.seconds, time.device_s + time.host_s, 1e-12);
}

TEST(EngineToken, AttentionThatStaysOnOneMultiprocessor) {
  DeviceFacts older = device();
  older.generation = "ampere";
  const double split_s = 10 * 1024e3 / 0.5e12;
  EXPECT_NEAR(forecast_of(work(), older).token.attention_s, split_s, 1e-12);
  // As many key-value heads as heads: 1,000 keys of 256 x 128 FLOP at 1 TFLOP/s and 40 ns each, in every layer.
  EngineWork plain = work();
  plain.kv_heads = plain.heads;
  EXPECT_NEAR(forecast_of(plain, older).token.attention_s, 10 * 1000 * (32768e-12 + 40e-9), 1e-12);
  EXPECT_NEAR(forecast_of(plain).token.attention_s, split_s, 1e-12);  // Hopper splits it
  // Layers with a window of 500 tokens: half of the keys, in four of ten.
  EngineWork windowed = work();
  windowed.windowed_layers = 4;
  windowed.window_tokens = 500;
  EXPECT_NEAR(forecast_of(windowed, older).token.attention_s, 0.6 * split_s + 4 * 500 * (32768e-12 + 40e-9), 1e-12);
}

TEST(EngineToken, LayersOfExperts) {
  EngineWork experts = work();
  experts.expert_layers = 4;
  EngineProfile own = profile();
  own.constants.expert_layer_cycles = 50e3;
  own.constants.expert_layer_fused_cycles = 10e3;
  const double dense_s = forecast_of(work()).token.kernels_s;
  EXPECT_NEAR(forecast_of(experts, device(), host(), own).token.kernels_s, dense_s + 4 * 50e-6, 1e-12);
  // One kernel does it all where matrix units feed themselves (3,000 FLOP a cycle) on Blackwell.
  DeviceFacts newer = device();
  newer.generation = "blackwell";
  EXPECT_NEAR(forecast_of(experts, newer, host(), own).token.kernels_s, dense_s + 4 * 50e-6, 1e-12);
  newer.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 4e14;
  EXPECT_NEAR(forecast_of(experts, newer, host(), own).token.kernels_s, dense_s + 4 * 10e-6, 1e-12);
}

TEST(EngineFirst, ProductsWithExpertsAreSlower) {
  EngineWork experts = work();
  experts.expert_flops = 500e6;  // of 800 MFLOP
  EngineProfile own = profile();
  own.constants.expert_rate_share = 0.5;
  own.constants.narrow_expert_rate_share = 0.25;
  const double dense_s = forecast_of(work()).first.prefill_s;
  EXPECT_NEAR(forecast_of(experts, device(), host(), own).first.prefill_s, dense_s + 900 * 500e6 / 1e14, 1e-12);
  EngineWork narrow = work();
  narrow.request.activations = experts.request.activations = Precision::kFp8;
  EXPECT_NEAR(forecast_of(experts, device(), host(), own).first.prefill_s,
              forecast_of(narrow).first.prefill_s + 900 * 3 * 500e6 / 1e14, 1e-12);
}

TEST(EngineToken, AllReduces) {
  const auto all_reduce_s = [](int64_t devices, double linked) {
    EngineWork shared = work();
    shared.request.tensor_parallel = devices;
    DeviceFacts facts = device();
    facts.linked_devices = linked;
    return forecast_of(shared, facts).token.all_reduce_s;
  };
  // 21 of them: two a layer, one of the embedding. The engine's own kernel, in cycles.
  EXPECT_NEAR(all_reduce_s(2, kUnknown), 21 * 10e-6, 1e-12);
  EXPECT_NEAR(all_reduce_s(4, kUnknown), 21 * 12e-6, 1e-12);
  EXPECT_NEAR(all_reduce_s(8, kUnknown), 21 * 16e-6, 1e-12);
  EXPECT_NEAR(all_reduce_s(3, kUnknown), 21 * 20e-6, 1e-12);  // odd: NCCL over the link
  EXPECT_NEAR(all_reduce_s(16, kUnknown), 21 * 20e-6, 1e-12);
  EXPECT_NEAR(all_reduce_s(4, 2), 21 * 40e-6, 1e-12);  // bridges join pairs alone: PCI Express
  EXPECT_NEAR(all_reduce_s(2, 2), 21 * 10e-6, 1e-12);
  // Sums are of 16 bits where products take 8: of a second token, 20 times 1,024 values.
  EngineWork narrow = work();
  narrow.request.tensor_parallel = 2;
  narrow.request.activations = Precision::kFp8;
  const auto token_s = [&](double decodes) {
    return engine_step_s(profile(), narrow, device(), host(1000), {.decodes = decodes});
  };
  EXPECT_NEAR(token_s(3) - token_s(2), 20 * 1024 * 2 / (0.5 * 2e11), 1e-9);
}

TEST(EngineFirst, PartsByHand) {
  const EngineFirstTime time = forecast_of(work()).first;
  EXPECT_NEAR(time.fixed_s, 10e-3, 1e-12);
  EXPECT_NEAR(time.tokeniser_s, 900 * 4e-6, 1e-12);
  // One chunk of 900 tokens: 1.056 GFLOP each (256 MFLOP of them fill tiles) at 100 TFLOP/s and, one after the other,
  // 800 MB at 0.8 TB/s; ten layers of 405,000 pairs of 4,096 FLOP at half of the peak; 90 MB of activations; 100
  // kernels; the head, and the step outside layers.
  const double products_s = 900 * 1.056e9 / 1e14, weights_s = 1e-3, attention_s = 10 * 4096 * 405e3 / 0.5e14;
  const double device_s = products_s + weights_s + attention_s + 90e6 / 0.8e12 + 0.5e-3;
  EXPECT_NEAR(time.prefill_s, device_s + 40e6 / 0.8e12 + 0.4e-3, 1e-12);
  // 9 ms and ten layers of 0.5 ms to launch: all but what the device takes meanwhile.
  EXPECT_NEAR(time.launch_s, 14e-3 - device_s, 1e-12);
  EXPECT_NEAR(time.seconds, time.fixed_s + time.tokeniser_s + time.prefill_s + time.launch_s, 1e-15);
}

TEST(EngineFirst, ShortPromptsAreGraphs) {
  EngineWork asked = work();
  asked.request.prompt_tokens = 512;
  EXPECT_EQ(forecast_of(asked).first.launch_s, 0);
  asked.request.prompt_tokens = 513;
  EXPECT_GT(forecast_of(asked).first.launch_s, 5e-3);
}

// Ten layers of three kernels that a dense model doesn't have, 100 us each.
TEST(EngineFirst, SpecialKernelsAreLaunchedOneByOne) {
  EngineProfile engine = profile();
  EngineWork asked = work();
  asked.special_kernels_per_layer = 3;
  const double without_s = forecast_of(asked).first.launch_s;
  engine.constants.eager_kernel_us = 100;
  EXPECT_NEAR(forecast_of(asked, device(), host(), engine).first.launch_s - without_s, 3e-3, 1e-12);
}

// Blackwell in data centres has units for 4 bits, and does more for a joule than Hopper.
TEST(EngineFirst, ProductsOnBlackwell) {
  EngineProfile engine = profile();
  EngineWork asked = work();
  asked.request.activations = Precision::kFp8;
  DeviceFacts hopper = device();
  hopper.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 4e14;
  hopper.peak_flops[static_cast<size_t>(MathMode::kFp8)] = 8e14;
  DeviceFacts blackwell = hopper;
  blackwell.generation = "blackwell";
  const auto prefill_s = [&](const DeviceFacts& on) { return forecast_of(asked, on, host(), engine).first.prefill_s; };
  const double in_8_bits_s = prefill_s(blackwell), on_hopper_s = prefill_s(hopper);
  asked.request.products_in_4_bits = true;
  EXPECT_NEAR(in_8_bits_s - prefill_s(blackwell), 900 * 1.056e9 / 8e14 / 2, 1e-12);
  EXPECT_EQ(prefill_s(hopper), on_hopper_s);
  asked.request = work().request;
  engine.constants.flops_per_j = 1e11;
  hopper.power_w = blackwell.power_w = 100;
  hopper.process_nm = blackwell.process_nm = 4;
  const double limited_s = 900 * 1.056e9 / 1e13 + 10 * 4096.0 * 900 * 900 / 2 / (0.5 * 1.2 * 1e13);
  EXPECT_NEAR(prefill_s(hopper) - prefill_s(blackwell), limited_s * (1 - 1 / 1.4), 1e-12);
}

TEST(EngineFirst, ProductsAndWeightsOverlapByTheExponent) {
  EngineProfile engine = profile();
  const double apart_s = forecast_of(work()).first.prefill_s;
  engine.constants.overlap_exponent = 2;
  const double products_s = 900 * 1.056e9 / 1e14, weights_s = 1e-3;
  EXPECT_NEAR(apart_s - forecast_of(work(), device(), host(), engine).first.prefill_s,
              products_s + weights_s - std::hypot(products_s, weights_s), 1e-12);
}

TEST(EngineFirst, ChunksByMemoryAndName) {
  const EngineProfile engine = profile();
  DeviceFacts facts = device();
  EXPECT_EQ(chunk_tokens(engine, facts), 8192);
  facts.memory_bytes = 48e9;
  EXPECT_EQ(chunk_tokens(engine, facts), 2048);
  facts.memory_bytes = kUnknown;
  EXPECT_EQ(chunk_tokens(engine, facts), 2048);
  facts.memory_bytes = 80e9;
  facts.name = "NVIDIA A100-SXM4-80GB";
  EXPECT_EQ(chunk_tokens(engine, facts), 2048);
  // Each chunk reads the weights and launches anew.
  EngineWork asked = work();
  asked.request.prompt_tokens = 4096;
  EXPECT_GT(forecast_of(asked, facts).first.seconds, forecast_of(asked).first.seconds);
}

TEST(EngineFirst, PowerAndFeedLimitProducts) {
  EngineProfile engine = profile();
  const double free_s = forecast_of(work()).first.prefill_s;
  engine.constants.operand_feed_loss = 0.1;  // 1,000 FLOP of a unit in a cycle: 9.8% longer
  const double fed_s = forecast_of(work(), device(), host(), engine).first.prefill_s;
  EXPECT_NEAR(fed_s - free_s, 900 * 1.056e9 / 1e14 * 0.1 * 1000 / 1024, 1e-12);
  engine = profile();
  engine.constants.flops_per_j = 1e12;
  DeviceFacts facts = device();
  facts.power_w = 100;
  facts.process_nm = 16;  // half of what 4 nm does: 50 TFLOP/s, attention 0.5 x 1.2 x 50
  const double limited_s = forecast_of(work(), facts, host(), engine).first.prefill_s;
  const double attention_flops = 10 * 4096 * 405e3;
  EXPECT_NEAR(limited_s - free_s, 900 * 1.056e9 / 1e14 + attention_flops / 30e12 - attention_flops / 50e12, 1e-12);
}

TEST(EngineForecast, TheClientsTimeHoldsTheFirstToken) {
  const EngineForecast forecast = forecast_of(work());
  EXPECT_NEAR(forecast.client_token_s, (forecast.first.seconds + 199 * forecast.token.seconds) / 200, 1e-15);
  EXPECT_DOUBLE_EQ(client_token_s(0.1, 0.01, 10), 0.019);
}

TEST(EngineForecast, IntervalsByWhatIsKnown) {
  const double t = student_quantile(0.95, 7);
  const EngineForecast known = forecast_of(work());
  EXPECT_NEAR(known.token_log_half_width, t * 0.05, 1e-12);
  EXPECT_NEAR(known.first_log_half_width, t * 0.2, 1e-12);
  EXPECT_EQ(known.unmeasured, 0U);
  EngineHost unknown;
  EXPECT_NEAR(forecast_of(work(), device(), unknown).first_log_half_width, std::hypot(t * 0.2, kNormal95 * 0.4), 1e-12);
  EngineWork other = work();
  other.model = "eleven";
  EXPECT_NEAR(forecast_of(other).token_log_half_width, std::hypot(t * 0.05, kNormal95 * 0.06), 1e-12);
  EngineWork several = work();
  several.request.tensor_parallel = 2;
  EXPECT_NEAR(forecast_of(several).token_log_half_width, t * 0.1, 1e-12);
  DeviceFacts foreign = device();
  foreign.vendor = "AMD";
  const EngineForecast marked = forecast_of(work(), foreign);
  EXPECT_EQ(marked.unmeasured, kUnmeasuredVendor);
  EXPECT_EQ(unmeasured_in_words(marked.unmeasured), "devices of other vendors than NVIDIA");
  EXPECT_NEAR(marked.token_log_half_width, std::hypot(t * 0.05, kNormal95 * 0.2), 1e-12);
}

TEST(EngineForecast, MissingFactsAreNamed) {
  DeviceFacts facts = device();
  facts.clock_hz = kUnknown;
  facts.units = kUnknown;
  const auto forecast = forecast_engine(profile(), work(), facts, host());
  ASSERT_FALSE(forecast);
  EXPECT_EQ(forecast.error().code, "unknown-fact");
  EXPECT_EQ(forecast.error().message, "Test GPU has no units, clock_hz, which the time of an engine's step needs");
}

// Better facts never make it slower; more work never faster.
TEST(EngineForecast, Monotone) {
  constexpr double kRounding = 1 + 1e-12;
  const auto both = [](const EngineForecast& forecast) {
    return std::pair(forecast.token.seconds, forecast.first.seconds);
  };
  for (const char* generation : {"ampere", "hopper"}) {
    for (const int64_t devices : {1, 2, 3, 8}) {
      EngineWork asked = work();
      asked.request.tensor_parallel = devices;
      asked.kv_heads = devices == 3 ? asked.heads : asked.kv_heads;
      DeviceFacts facts = device();
      facts.generation = generation;
      facts.power_w = 300;
      facts.process_nm = 5;
      EngineProfile engine = profile();
      engine.constants.flops_per_j = 1e12;
      engine.constants.operand_feed_loss = 0.05;
      engine.constants.overlap_exponent = 1.3;
      const auto base = both(forecast_of(asked, facts, host(1.2), engine));
      for (double DeviceFacts::*fact : {&DeviceFacts::memory_bytes_per_s, &DeviceFacts::power_w, &DeviceFacts::clock_hz,
                                        &DeviceFacts::link_bytes_per_s, &DeviceFacts::host_link_bytes_per_s}) {
        DeviceFacts better = facts;
        better.*fact *= 1.5;
        const auto faster = both(forecast_of(asked, better, host(1.2), engine));
        EXPECT_LE(faster.first, base.first * kRounding);
        EXPECT_LE(faster.second, base.second * kRounding);
      }
      EXPECT_LE(both(forecast_of(asked, facts, host(2), engine)), base);
      double token_s = 0, first_s = 0;
      for (int64_t prompt = 1; prompt < 40000; prompt = prompt * 5 / 4 + 1) {
        asked.request.prompt_tokens = prompt;
        const auto longer = both(forecast_of(asked, facts, host(1.2), engine));
        EXPECT_GE(longer.first * kRounding, token_s);
        EXPECT_GE(longer.second * kRounding, first_s) << prompt;
        std::tie(token_s, first_s) = longer;
      }
    }
  }
}

// Many chunks at once come to what they come to one by one.
TEST(EngineFirst, LongPrompts) {
  EngineProfile engine = profile();
  engine.constants.chunk_tokens = engine.constants.large_chunk_tokens = 1024;
  EngineWork asked = work();
  asked.request.prompt_tokens = 64 * 1024;
  const double one_by_one = forecast_of(asked, device(), host(), engine).first.prefill_s;
  asked.request.prompt_tokens = 65 * 1024;
  const double together = forecast_of(asked, device(), host(), engine).first.prefill_s;
  EXPECT_NEAR(together / one_by_one, 65.0 / 64, 0.02);
  asked.request.prompt_tokens = 1 << 29;
  asked.request.batch = 1 << 20;
  EXPECT_TRUE(std::isfinite(forecast_of(asked).first.seconds));
}

// Two ranks of a model whose experts do 600 of 800 MFLOP a token and have 100 MB in each of ten layers.
EngineWork work_of_experts() {
  EngineWork work = engine_test::work();
  work.request.expert_ranks = 2;
  work.experts = 8;
  work.active_experts = 8;
  work.expert_layers = 10;
  work.expert_bytes = 500e6;
  work.expert_flops = 600e6;
  return work;
}

TEST(EngineStep, RanksShareExpertsAndExchangeTokens) {
  EngineProfile profile = engine_test::profile();
  profile.constants.expert_rate_share = 1;
  const DeviceFacts device = engine_test::device();
  const EngineHost host = engine_test::host(1000);  // never waited for
  const EngineWork shared = work_of_experts();
  EngineWork alone = shared;
  alone.request.expert_ranks = 1;
  // 3,000 tokens here of 4,000 in all: experts of 2,000. All tokens go to the other rank, which sends sums back.
  const EngineBatch batch{.decodes = 3000, .shared_tokens = 4000};
  EngineBatch own = batch;
  own.shared_tokens = 0;
  const double flops_s = (3000 * 200e6 + 2000 * 600e6) / 1e14, alone_s = 3000 * 800e6 / 1e14;
  const double exchange_s = 2 * 10 * (20e-6 + 4000 * 0.5 * 1024 * 2 / 1e11);
  const double visits = 1 - std::pow(0.5, 8);
  EXPECT_NEAR(engine_step_s(profile, shared, device, host, batch) - engine_step_s(profile, alone, device, host, own),
              flops_s - alone_s + exchange_s - 2 * 10 * (1 - visits) * 4000 * 0.5 * 1024 * 2 / 1e11, 1e-9);
  // The busiest rank has so many standard deviations more: of 32,000 choices.
  EngineWork uneven = shared;
  uneven.busiest_rank = 0.5;
  EXPECT_NEAR(engine_step_s(profile, uneven, device, host, batch) - engine_step_s(profile, shared, device, host, batch),
              2000 * 600e6 / 1e14 * 0.5 / std::sqrt(32000), 1e-9);
}

TEST(EngineStep, GuessesShareWeightsAndKeys) {
  const EngineProfile profile = engine_test::profile();
  const DeviceFacts device = engine_test::device();
  const EngineHost host = engine_test::host(1000);
  EngineWork work = engine_test::work();
  const EngineBatch one{.decodes = 10, .decode_context_tokens = 10000};
  EngineBatch five = one;
  five.tokens_per_decode = 5;
  EXPECT_DOUBLE_EQ(engine_step_s(profile, work, device, host, five), engine_step_s(profile, work, device, host, one));
  work.product_flops *= 1e4;  // until products count
  EXPECT_NEAR(engine_step_s(profile, work, device, host, five) - engine_step_s(profile, work, device, host, one),
              40 * work.product_flops / 1e14, 1e-9);
}

TEST(EngineStep, APipelineWaitsForItsHostOnceForEachStage) {
  EngineProfile profile = engine_test::profile();
  profile.constants.host_step_ms = 50;
  const DeviceFacts device = engine_test::device();
  EngineWork work = engine_test::work();
  work.request.pipeline_stages = 4;
  const EngineBatch batch{.decodes = 1, .decode_context_tokens = 1000};
  EXPECT_NEAR(engine_step_s(profile, work, device, engine_test::host(1), batch), 0.2, 1e-12);
  const StageHop hop = stage_hop(profile, work, device, engine_test::host(1));
  EXPECT_DOUBLE_EQ(hop.seconds, 20e-6);
  EXPECT_DOUBLE_EQ(hop.token_s, 1024 * 2 / 1e11);
}

TEST(EngineStep, RatiosOfAMeasuredEngineAreOfExperts) {
  EngineProfile profile = engine_test::profile();
  profile.spread.service_token_ratio = 0.6;
  profile.spread.service_first_ratio = 0.9;
  EngineWork work = engine_test::work();
  profile.basis = EngineBasis::kMeasured;
  EXPECT_EQ(service_ratios(profile, work).token, 1);
  EXPECT_EQ(service_ratios(profile, work).first, 1);
  work.experts = 8;
  EXPECT_EQ(service_ratios(profile, work).token, 0.6);
  EXPECT_EQ(service_ratios(profile, work).first, 0.9);
  work.experts = 0;
  profile.basis = EngineBasis::kWeaklyMeasured;
  EXPECT_EQ(service_ratios(profile, work).token, 0.6);
}

TEST(EngineStep, TheLoadIsWhatAStepComputesAndReads) {
  const EngineWork work = engine_test::work();
  const AcceleratorLoad load = engine_step_load(
      work, engine_test::device(),
      {.decodes = 2, .decode_context_tokens = 2000, .prefill_tokens = 100, .prefill_pairs = 5050}, 0.01);
  EXPECT_NEAR(load.compute_ratio, (102 * 800e6 + 4096 * 10 * (2000 + 5050.0)) / 1e14 / 0.01, 1e-12);
  EXPECT_NEAR(load.memory_ratio, (840e6 + 1024 * 10 * 2000.0 + 100e3 * 100.0) / 1e12 / 0.01, 1e-12);
}

}  // namespace
}  // namespace perfcast::ai
