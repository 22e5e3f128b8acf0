#include "ai/serving/serve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ai/serving/testing/toy_time.h"

namespace perfcast::ai {
namespace {

ServeOptions options_of(int64_t cache_tokens = 10000) {
  ServeOptions options;
  options.limits.cache_tokens = cache_tokens;
  return options;
}

ServingTrace trace_of(std::vector<ServingRequest> requests) {
  ServingTrace trace;
  trace.requests = std::move(requests);
  return trace;
}

ServeRun run(const ServingTrace& trace, const ServeOptions& options, const BatchTime& times = ToyTime()) {
  Result<ServeRun> run = serve(trace, options, times);
  EXPECT_TRUE(run) << to_text(run.error());
  return *std::move(run);
}

TEST(Serve, OneRequestTakesItsPromptAndAStepForEachFurtherToken) {
  const ServeRun all = run(trace_of({{.arrival_s = 1, .prompt_tokens = 100, .output_tokens = 3}}), options_of());
  const RequestOutcome& one = all.outcomes[0];
  EXPECT_DOUBLE_EQ(one.ready_s, 1);
  EXPECT_DOUBLE_EQ(one.scheduled_s, 1);
  EXPECT_NEAR(one.first_token_s, 1.020, 1e-12);
  EXPECT_NEAR(one.last_token_s, 1.042, 1e-12);
  EXPECT_EQ(all.counts.steps, 3);
  EXPECT_EQ(all.finished, 1);
  EXPECT_DOUBLE_EQ(all.counts.generated_tokens, 3);
  EXPECT_EQ(all.counts.gaps.count(), 2);
  EXPECT_NEAR(all.counts.gaps.quantile(0.5), 0.011, 0.0001);
  EXPECT_EQ(all.counts.most_used_blocks, 7);  // 102 tokens have keys
}

TEST(Serve, ALongPromptIsCutIntoSteps) {
  ServeOptions options = options_of();
  options.limits.step_tokens = 100;
  options.limits.max_sequences = 100;
  const ServeRun all = run(trace_of({{.prompt_tokens = 250, .output_tokens = 1}}), options);
  EXPECT_NEAR(all.outcomes[0].first_token_s, 0.055, 1e-12);
  EXPECT_DOUBLE_EQ(all.outcomes[0].last_token_s, all.outcomes[0].first_token_s);
}

TEST(Serve, SequencesThatGenerateGoOnBesideAPrompt) {
  const ServeRun all = run(trace_of({{.arrival_s = 0, .prompt_tokens = 100, .output_tokens = 10},
                                     {.arrival_s = 0.025, .prompt_tokens = 200, .output_tokens = 2}}),
                           options_of());
  // The first: 20 ms, then steps of 11 ms; the second is let in at 31 ms, for a step of 10 + 1 + 20.
  EXPECT_NEAR(all.outcomes[1].scheduled_s, 0.031, 1e-12);
  EXPECT_NEAR(all.outcomes[1].first_token_s, 0.062, 1e-12);
  EXPECT_NEAR(all.outcomes[1].last_token_s, 0.074, 1e-12);
  EXPECT_NEAR(all.outcomes[0].last_token_s, 0.074 + 6 * 0.011, 1e-12);
}

TEST(Serve, AnEngineThatSchedulesAheadTakesARequestAStepLater) {
  ServeOptions options = options_of();
  options.limits.schedules_ahead = true;
  const ServeRun all = run(trace_of({{.arrival_s = 0, .prompt_tokens = 100, .output_tokens = 10},
                                     {.arrival_s = 0.025, .prompt_tokens = 200, .output_tokens = 2},
                                     {.arrival_s = 0.139, .prompt_tokens = 100, .output_tokens = 1}}),
                           options);
  // Idle at first. The second comes in the step of 20 to 31 ms; the one that begins then was chosen at 20 ms.
  EXPECT_NEAR(all.outcomes[0].first_token_s, 0.020, 1e-12);
  EXPECT_NEAR(all.outcomes[1].scheduled_s, 0.042, 1e-12);
  EXPECT_NEAR(all.outcomes[1].first_token_s, 0.073, 1e-12);
  // The third comes in the last step of the first one: then nothing else is to do.
  EXPECT_NEAR(all.outcomes[0].last_token_s, 0.140, 1e-12);
  EXPECT_NEAR(all.outcomes[2].scheduled_s, 0.140, 1e-12);
}

TEST(Serve, AnEngineThatLooksForRequestsNowAndThen) {
  ServeOptions options = options_of();
  options.limits.receive_steps = 5;
  const ServeRun all = run(trace_of({{.arrival_s = 0, .prompt_tokens = 100, .output_tokens = 10},
                                     {.arrival_s = 0.025, .prompt_tokens = 200, .output_tokens = 2},
                                     {.arrival_s = 1, .prompt_tokens = 100, .output_tokens = 1}}),
                           options);
  // The first found it idle: 20 ms, then steps of 11 ms, of which the fifth looks for others.
  EXPECT_NEAR(all.outcomes[0].first_token_s, 0.020, 1e-12);
  EXPECT_NEAR(all.outcomes[1].scheduled_s, 0.064, 1e-12);
  EXPECT_NEAR(all.outcomes[1].first_token_s, 0.095, 1e-12);
  EXPECT_NEAR(all.outcomes[2].scheduled_s, 1, 1e-12);
}

TEST(Serve, AReserveOfTheCacheKeepsRequestsWaitingBesideOthers) {
  ServeOptions options = options_of();
  options.limits.cache_tokens = 20 * options.limits.block_tokens;
  const ServingTrace trace = trace_of({{.arrival_s = 0, .prompt_tokens = 9 * 16, .output_tokens = 3},
                                       {.arrival_s = 0, .prompt_tokens = 9 * 16, .output_tokens = 3}});
  // 18 of 20 blocks: 2 are left.
  options.limits.cache_reserve_share = 0.1;
  EXPECT_EQ(run(trace, options).outcomes[1].scheduled_s, 0);
  options.limits.cache_reserve_share = 0.15;
  const ServeRun apart = run(trace, options);
  EXPECT_EQ(apart.outcomes[1].scheduled_s, apart.outcomes[0].last_token_s);
  // Nothing runs beside it.
  options.limits.cache_reserve_share = 0.9;
  EXPECT_EQ(run(trace, options).finished, 2);
  options.limits.cache_reserve_share = 1;
  EXPECT_EQ(check(options.limits).error().where, "cache_reserve_share");
}

TEST(Serve, WithoutChunksPromptsGoFirstAndTheOthersStandStill) {
  ServeOptions options = options_of();
  options.limits.chunked_prefill = false;
  const ServeRun all = run(trace_of({{.arrival_s = 0, .prompt_tokens = 100, .output_tokens = 10},
                                     {.arrival_s = 0.025, .prompt_tokens = 200, .output_tokens = 2}}),
                           options);
  EXPECT_NEAR(all.outcomes[1].first_token_s, 0.031 + 0.030, 1e-12);
  EXPECT_NEAR(all.outcomes[1].last_token_s, 0.061 + 0.012, 1e-12);
  EXPECT_NEAR(all.outcomes[0].last_token_s, 0.073 + 7 * 0.011, 1e-12);
  EXPECT_NEAR(all.counts.gaps.quantile(1), 0.042, 0.0005);
}

TEST(Serve, PromptsApartAreCutIntoStepsOfTheirOwn) {
  ServeOptions options = options_of();
  options.limits.prompts_apart = true;
  options.limits.step_tokens = 100;
  options.limits.max_sequences = 100;
  const ServeRun all = run(trace_of({{.arrival_s = 0, .prompt_tokens = 100, .output_tokens = 10},
                                     {.arrival_s = 0.025, .prompt_tokens = 250, .output_tokens = 2}}),
                           options);
  // From 31 ms on, chunks of 100, 100 and 50 tokens; then a token of both.
  EXPECT_NEAR(all.outcomes[1].first_token_s, 0.031 + 0.055, 1e-12);
  EXPECT_NEAR(all.outcomes[1].last_token_s, 0.086 + 0.012, 1e-12);
  EXPECT_NEAR(all.outcomes[0].last_token_s, 0.098 + 7 * 0.011, 1e-12);
}

TEST(Serve, WhereTheCacheIsFullTheLastOneWaitsAndComputesAnew) {
  ServeOptions options = options_of(16);
  options.limits.block_tokens = 4;
  const ServeRun all =
      run(trace_of({{.prompt_tokens = 7, .output_tokens = 8}, {.prompt_tokens = 7, .output_tokens = 8}}), options);
  // Both prompts 11.4 ms, a token of both 12; then each needs a third block of four, and the second leaves.
  EXPECT_NEAR(all.outcomes[0].first_token_s, 0.0114, 1e-12);
  EXPECT_NEAR(all.outcomes[0].last_token_s, 0.0234 + 6 * 0.011, 1e-12);
  // Seven tokens of the prompt and two that it had, at once; then five more.
  EXPECT_NEAR(all.outcomes[1].last_token_s, 0.0894 + 0.0109 + 5 * 0.011, 1e-12);
  EXPECT_EQ(all.outcomes[1].preemptions, 1);
  EXPECT_EQ(all.outcomes[0].preemptions, 0);
  EXPECT_EQ(all.counts.preemptions, 1);
  EXPECT_DOUBLE_EQ(all.counts.generated_tokens, 16);
  EXPECT_DOUBLE_EQ(all.counts.prompt_tokens, 14 + 9);
  EXPECT_NEAR(all.counts.gaps.quantile(1), 0.0769, 0.0005);
}

TEST(Serve, APrefixThatTheCacheHoldsIsNotComputedAgain) {
  ServingTrace trace = trace_of({{.prompt_tokens = 10, .output_tokens = 1, .prefix = {0, 3}},
                                 {.arrival_s = 1, .prompt_tokens = 10, .output_tokens = 1, .prefix = {3, 3}}});
  trace.hashes = {1, 2, 3, 1, 2, 4};
  trace.hash_block_tokens = 4;
  ServeOptions options = options_of();
  options.limits.block_tokens = 4;
  const ServeRun all = run(trace, options);
  EXPECT_NEAR(all.outcomes[0].first_token_s, 0.011, 1e-12);
  EXPECT_NEAR(all.outcomes[1].first_token_s, 1.0102, 1e-12);
  EXPECT_EQ(all.outcomes[1].cached_tokens, 8);
  EXPECT_DOUBLE_EQ(all.counts.cached_tokens, 8);
  options.limits.prefix_cache = false;
  EXPECT_NEAR(run(trace, options).outcomes[1].first_token_s, 1.011, 1e-12);
}

TEST(Serve, TheLastTokenOfAPromptIsAlwaysComputed) {
  ServingTrace trace = trace_of({{.prompt_tokens = 8, .output_tokens = 1, .prefix = {0, 2}},
                                 {.arrival_s = 1, .prompt_tokens = 8, .output_tokens = 1, .prefix = {0, 2}}});
  trace.hashes = {1, 2};
  trace.hash_block_tokens = 4;
  ServeOptions options = options_of();
  options.limits.block_tokens = 4;
  EXPECT_EQ(run(trace, options).outcomes[1].cached_tokens, 4);
}

TEST(Serve, AClosedLoopSendsWhenARequestEnds) {
  const ServingRequest each{.prompt_tokens = 100, .output_tokens = 1};
  ServeOptions options = options_of();
  options.concurrency = 1;
  const ServeRun all = run(trace_of({each, each, each}), options);
  EXPECT_NEAR(all.sent_s[1], 0.020, 1e-12);
  EXPECT_NEAR(all.outcomes[2].last_token_s, 0.060, 1e-12);
  options.concurrency = 3;
  EXPECT_NEAR(run(trace_of({each, each, each}), options).end_s, 0.040, 1e-12);
}

TEST(Serve, ATurnComesAfterTheTurnBeforeIt) {
  const ServeRun all = run(trace_of({{.prompt_tokens = 100, .output_tokens = 1},
                                     {.arrival_s = 5, .prompt_tokens = 100, .output_tokens = 1, .after = 0}}),
                           options_of());
  EXPECT_NEAR(all.sent_s[1], 5.020, 1e-12);
}

TEST(Serve, TheTokeniserTakesOneRequestAfterTheOther) {
  ServeOptions options = options_of();
  options.front_end = {.fixed_s = 0.5, .prompt_token_s = 0.001};
  const ServeRun all =
      run(trace_of({{.prompt_tokens = 100, .output_tokens = 1}, {.prompt_tokens = 100, .output_tokens = 1}}), options);
  EXPECT_NEAR(all.outcomes[0].ready_s, 0.6, 1e-12);
  EXPECT_NEAR(all.outcomes[1].ready_s, 0.7, 1e-12);
}

TEST(Serve, RoutersChooseReplicas) {
  const ServingRequest each{.prompt_tokens = 100, .output_tokens = 50};
  std::vector<ServingRequest> requests(4, each);
  requests[0].output_tokens = 1;
  for (size_t i = 0; i < requests.size(); ++i) requests[i].arrival_s = 0.05 * static_cast<double>(i);
  ServeOptions options = options_of();
  options.replicas = 2;
  options.router = Router::kRoundRobin;
  std::vector<int32_t> got;
  for (const RequestOutcome& outcome : run(trace_of(requests), options).outcomes) got.push_back(outcome.replica);
  EXPECT_EQ(got, (std::vector<int32_t>{0, 1, 0, 1}));
  options.router = Router::kLeastLoaded;
  got.clear();
  for (const RequestOutcome& outcome : run(trace_of(requests), options).outcomes) got.push_back(outcome.replica);
  EXPECT_EQ(got, (std::vector<int32_t>{0, 0, 1, 0}));
}

TEST(Serve, APrefixAwareRouterFindsThePrefix) {
  ServingTrace trace;
  trace.hash_block_tokens = 16;
  for (int i = 0; i < 4; ++i) {
    trace.requests.push_back(
        {.arrival_s = 10.0 * i, .prompt_tokens = 40, .output_tokens = 2, .prefix = {static_cast<uint32_t>(2 * i), 2}});
    const uint64_t kind = i % 2;
    trace.hashes.insert(trace.hashes.end(), {100 + kind, 200 + kind});
  }
  // Two kinds of prompts at once, so that each goes to a replica of its own.
  trace.requests[1].arrival_s = 0;
  ServeOptions options = options_of();
  options.replicas = 2;
  options.router = Router::kPrefixAware;
  const ServeRun all = run(trace, options);
  EXPECT_EQ(all.outcomes[2].replica, all.outcomes[0].replica);
  EXPECT_EQ(all.outcomes[3].replica, all.outcomes[1].replica);
  EXPECT_EQ(all.outcomes[3].cached_tokens, 32);
}

TEST(Serve, ARequestThatCanNeverFitIsRefusedAndTheOthersAreServed) {
  const ServeRun all =
      run(trace_of({{.prompt_tokens = 90, .output_tokens = 20}, {.prompt_tokens = 10, .output_tokens = 2}}),
          options_of(96));
  EXPECT_TRUE(all.outcomes[0].refused);
  EXPECT_TRUE(std::isnan(all.outcomes[0].first_token_s));
  EXPECT_EQ(all.refused, 1);
  EXPECT_EQ(all.finished, 1);
}

TEST(Serve, LowerPrioritiesGoFirst) {
  ServeOptions options = options_of();
  options.limits.max_sequences = 1;
  const ServeRun all = run(trace_of({{.prompt_tokens = 10, .output_tokens = 5},
                                     {.arrival_s = 0.001, .prompt_tokens = 10, .output_tokens = 1, .priority = 1},
                                     {.arrival_s = 0.002, .prompt_tokens = 10, .output_tokens = 1}}),
                           options);
  EXPECT_LT(all.outcomes[2].first_token_s, all.outcomes[1].first_token_s);
}

TEST(Serve, EndsAtTheTimeAskedFor) {
  ServeOptions options = options_of();
  options.most_s = 0.015;
  const ServeRun all = run(trace_of({{.prompt_tokens = 10, .output_tokens = 1000}}), options);
  EXPECT_TRUE(all.is_cut);
  EXPECT_FALSE(std::isnan(all.outcomes[0].first_token_s));
  EXPECT_TRUE(std::isnan(all.outcomes[0].last_token_s));
}

TEST(Serve, SaysWhatCannotBeServed) {
  const ToyTime times;
  const auto code_of = [&](const ServingTrace& trace, const ServeOptions& options) {
    const Result<ServeRun> run = serve(trace, options, times);
    return run ? std::string("ok") : run.error().code + " " + run.error().where;
  };
  EXPECT_EQ(code_of(trace_of({{.prompt_tokens = 0}}), options_of()), "bad-request request 1");
  EXPECT_EQ(code_of(trace_of({{.arrival_s = 2}, {.arrival_s = 1}}), options_of()), "bad-request request 2");
  EXPECT_EQ(code_of(trace_of({{.after = 0}}), options_of()), "bad-request request 1");
  EXPECT_EQ(code_of(trace_of({{}}), options_of(0)), "bad-usage cache_tokens");
  ServeOptions options = options_of();
  options.limits.step_tokens = 10;
  EXPECT_EQ(code_of(trace_of({{}}), options), "bad-usage step_tokens");
  options = options_of();
  options.replicas = 0;
  EXPECT_EQ(code_of(trace_of({{}}), options), "bad-usage replicas");
}

TEST(Serve, SamplesStayFewHoweverLongItRuns) {
  std::vector<ServingRequest> requests;
  for (int i = 0; i < 3000; ++i) requests.push_back({.arrival_s = 0.05 * i, .prompt_tokens = 10, .output_tokens = 20});
  const ServeRun all = run(trace_of(requests), options_of());
  EXPECT_LE(all.samples.size(), ServeRun::kMostSamples);
  EXPECT_GE(all.samples.size(), ServeRun::kMostSamples / 4);
}

// Replicas of several engines, stages and pools, requests that are held back, guesses: times summed by hand.
TEST(ServeShape, RequestsBeyondTheLimitWaitAtTheirClient) {
  ServeOptions options = options_of();
  options.most_in_flight = 2;
  const ServingRequest one{.prompt_tokens = 100, .output_tokens = 1};
  ServingRequest late = one;
  late.arrival_s = 1;
  const ServeRun all = run(trace_of({one, one, one, late}), options);
  EXPECT_DOUBLE_EQ(all.sent_s[1], 0);
  EXPECT_NEAR(all.outcomes[1].first_token_s, 0.030, 1e-12);  // two prompts in a step
  EXPECT_NEAR(all.sent_s[2], 0.030, 1e-12);
  EXPECT_NEAR(all.outcomes[2].first_token_s, 0.050, 1e-12);
  EXPECT_DOUBLE_EQ(all.sent_s[3], 1);
}

TEST(ServeShape, WhoThinksIsNotUnderWay) {
  ServeOptions options = options_of();
  options.most_in_flight = 1;
  const ServingRequest one{.prompt_tokens = 100, .output_tokens = 1};
  ServingRequest next = one, other = one;
  next.after = 0;
  next.arrival_s = 10;  // a turn, 10 s after the first one's end
  other.arrival_s = 1;
  const ServeRun all = run(trace_of({one, next, other}), options);
  EXPECT_NEAR(all.sent_s[2], 1, 1e-12);
  EXPECT_NEAR(all.sent_s[1], 10.020, 1e-12);
}

// A millisecond for each token of all engines, and 10 ms.
class SharedTime final : public BatchTime {
 public:
  double seconds(const StepBatch& batch) const override { return 0.010 + 0.001 * batch.shared_tokens; }
};

TEST(ServeShape, EnginesThatShareExpertsStepTogether) {
  ServeOptions options = options_of();
  options.data_parallel = 2;
  const std::vector<ServingRequest> requests = {{.prompt_tokens = 100, .output_tokens = 3},
                                                {.prompt_tokens = 300, .output_tokens = 2},
                                                {.arrival_s = 0.001, .prompt_tokens = 100, .output_tokens = 1}};
  // Steps of 40 ms (the longer prompt), of 22 ms (a token beside the third request's prompt), of 11 ms.
  const ServeRun all = run(trace_of(requests), options);
  EXPECT_NEAR(all.outcomes[0].first_token_s, 0.040, 1e-12);
  EXPECT_NEAR(all.outcomes[1].first_token_s, 0.040, 1e-12);
  EXPECT_NEAR(all.outcomes[2].first_token_s, 0.061, 1e-12);
  EXPECT_NEAR(all.outcomes[1].last_token_s, 0.061, 1e-12);
  EXPECT_NEAR(all.outcomes[0].last_token_s, 0.072, 1e-12);
  EXPECT_EQ(all.outcomes[1].replica, 0);
  // 400 tokens, then two and the prompt, then one.
  const ServeRun shared = run(trace_of(requests), options, SharedTime());
  EXPECT_NEAR(shared.outcomes[0].first_token_s, 0.410, 1e-12);
  EXPECT_NEAR(shared.outcomes[2].first_token_s, 0.410 + 0.112, 1e-12);
  EXPECT_NEAR(shared.outcomes[0].last_token_s, 0.522 + 0.011, 1e-12);
}

TEST(ServeShape, EnginesThatShareExpertsLetPromptsInTogether) {
  ServeOptions options = options_of();
  options.data_parallel = 2;
  options.balance_steps = 3;
  std::vector<ServingRequest> requests = {{.prompt_tokens = 100, .output_tokens = 10},
                                          {.prompt_tokens = 100, .output_tokens = 2},
                                          {.arrival_s = 0.025, .prompt_tokens = 100, .output_tokens = 1}};
  // Both prompts take 20 ms, a token of both 11. The third request's prompt waits for three steps, then goes alone.
  ServeRun all = run(trace_of(requests), options);
  EXPECT_NEAR(all.outcomes[2].scheduled_s, 0.031 + 3 * 0.011, 1e-12);
  EXPECT_NEAR(all.outcomes[2].first_token_s, 0.064 + 0.021, 1e-12);  // beside a token of the first
  // The fourth request's comes before.
  requests.push_back({.arrival_s = 0.040, .prompt_tokens = 100, .output_tokens = 1});
  all = run(trace_of(requests), options);
  EXPECT_NEAR(all.outcomes[2].scheduled_s, 0.042, 1e-12);
  EXPECT_NEAR(all.outcomes[3].scheduled_s, 0.042, 1e-12);
}

TEST(ServeShape, StepsOfAPipelineFollowEachOther) {
  ServeOptions options = options_of();
  options.pipeline_parallel = 2;
  options.hop_s = 0.001;
  const ServingRequest one{.prompt_tokens = 100, .output_tokens = 2};
  const ServeRun all = run(trace_of({one, one}), options);
  // Stages of 10 ms: 0 to 10, 11 to 21; 10 to 20, 21 to 31. Then of 5.5 ms: 21 to 26.5, 31 to 36.5; 31 to 36.5, 37.5 to
  // 43.
  EXPECT_NEAR(all.outcomes[0].first_token_s, 0.021, 1e-12);
  EXPECT_NEAR(all.outcomes[1].first_token_s, 0.031, 1e-12);
  EXPECT_NEAR(all.outcomes[0].last_token_s, 0.0365, 1e-12);
  EXPECT_NEAR(all.outcomes[1].last_token_s, 0.043, 1e-12);
  EXPECT_EQ(all.cache_blocks, 10000 / 2 / 16);
}

TEST(ServeShape, APipelineIsAsFastAsItsStagesAndASingleStreamIsNot) {
  ServeOptions options = options_of();
  options.pipeline_parallel = 4;
  std::vector<ServingRequest> requests(4, {.prompt_tokens = 1, .output_tokens = 101});
  const double four_s = run(trace_of(requests), options).end_s;
  requests.resize(1);
  const double one_s = run(trace_of(requests), options).end_s;
  EXPECT_NEAR(one_s, 0.0101 + 100 * 0.011, 1e-9);
  EXPECT_NEAR(four_s / one_s, 1, 0.02);  // four streams in the time of one
}

TEST(ServeShape, GuessesAreKeptInTheMean) {
  ServeOptions options = options_of();
  options.limits.draft_tokens = 1;
  options.limits.acceptance = 0.5;
  EXPECT_DOUBLE_EQ(options.limits.tokens_per_step(), 1.5);
  // One token with the prompt; steps of one, two, one.
  const ServeRun five = run(trace_of({{.prompt_tokens = 100, .output_tokens = 5}}), options);
  EXPECT_NEAR(five.outcomes[0].last_token_s, 0.020 + 3 * 0.011, 1e-12);
  EXPECT_DOUBLE_EQ(five.counts.generated_tokens, 5);
  options.limits.draft_tokens = 3;
  options.limits.acceptance = 1;
  EXPECT_DOUBLE_EQ(options.limits.tokens_per_step(), 4);
  // Steps of four; three of the last are beyond the end.
  const ServeRun six = run(trace_of({{.prompt_tokens = 100, .output_tokens = 6}}), options);
  EXPECT_NEAR(six.outcomes[0].last_token_s, 0.020 + 2 * 0.011, 1e-12);
  EXPECT_DOUBLE_EQ(six.counts.generated_tokens, 6);
}

TEST(ServeShape, RequestsGoOnElsewhereWithTheirKeys) {
  ServeOptions options = options_of();
  options.prefill_replicas = 1;
  options.transfer_s = 0.005;
  options.transfer_token_s = 1e-5;
  const ServingRequest one{.prompt_tokens = 100, .output_tokens = 3};
  const ServeRun all = run(trace_of({one, one, {.prompt_tokens = 100, .output_tokens = 1}}), options);
  // All prompts in one step of 40 ms; keys arrive at 46 and 52 ms.
  EXPECT_NEAR(all.outcomes[0].first_token_s, 0.040, 1e-12);
  EXPECT_NEAR(all.outcomes[2].last_token_s, 0.040, 1e-12);
  EXPECT_EQ(all.outcomes[2].replica, 0);
  EXPECT_EQ(all.outcomes[0].replica, 1);
  EXPECT_NEAR(all.outcomes[0].last_token_s, 0.046 + 0.011 + 0.012, 1e-12);
  EXPECT_NEAR(all.outcomes[1].last_token_s, 0.069 + 0.011, 1e-12);
  EXPECT_DOUBLE_EQ(all.counts.generated_tokens, 7);
  EXPECT_EQ(all.counts.gaps.count(), 4);
  EXPECT_EQ(all.finished, 3);
}

TEST(ServeShape, EachEngineOfAReplicaSendsKeysOverItsOwnLink) {
  ServeOptions options = options_of();
  options.data_parallel = 2;
  options.prefill_replicas = 1;
  options.transfer_s = 0.005;
  options.transfer_token_s = 1e-5;
  const ServingRequest one{.prompt_tokens = 100, .output_tokens = 3};
  const ServeRun all = run(trace_of({one, one}), options);
  // A prompt in each engine, 20 ms; keys of both arrive at 26 ms; two steps of 11 ms.
  EXPECT_NEAR(all.outcomes[0].first_token_s, 0.020, 1e-12);
  EXPECT_NEAR(all.outcomes[0].last_token_s, 0.048, 1e-12);
  EXPECT_NEAR(all.outcomes[1].last_token_s, 0.048, 1e-12);
}

TEST(Serve, OneProcessTakesRequestsAndSendsTokens) {
  ServeOptions options = options_of();
  options.front_end = {.fixed_s = 0.001, .request_s = 0.002, .prompt_token_s = 1e-5, .token_s = 0.004};
  const ServingRequest one{.prompt_tokens = 100, .output_tokens = 2};
  const ServeRun all = run(trace_of({one, one}), options);
  // 3 ms for each request, one after the other, and 1 ms beside it: ready at 4 and 7 ms. The first step ends at 24 ms,
  // its token is sent at 28; the second, of 21 ms, ends at 45, and both of its tokens are sent at 53.
  EXPECT_NEAR(all.outcomes[0].ready_s, 0.004, 1e-12);
  EXPECT_NEAR(all.outcomes[1].ready_s, 0.007, 1e-12);
  EXPECT_NEAR(all.outcomes[0].first_token_s, 0.028, 1e-12);
  EXPECT_NEAR(all.outcomes[0].last_token_s, 0.053, 1e-12);
  EXPECT_NEAR(all.outcomes[1].first_token_s, 0.053, 1e-12);
  EXPECT_NEAR(all.outcomes[1].last_token_s, 0.045 + 0.011 + 0.004, 1e-12);
  EXPECT_NEAR(all.end_s, 0.060, 1e-12);
}

TEST(Serve, ARequestOfAClosedLoopIsSentWhenTheLastTokenIsSeen) {
  ServeOptions options = options_of();
  options.front_end.token_s = 0.005;
  options.concurrency = 1;
  const ServingRequest one{.prompt_tokens = 100, .output_tokens = 1};
  const ServeRun all = run(trace_of({one, one}), options);
  EXPECT_NEAR(all.outcomes[0].last_token_s, 0.025, 1e-12);
  EXPECT_NEAR(all.sent_s[1], 0.025, 1e-12);
}

TEST(ServeShape, EnergyIsThatOfStepsAndOfIdling) {
  class Watts final : public BatchTime {
   public:
    double seconds(const StepBatch& batch) const override { return ToyTime().seconds(batch); }
    double joules(const StepBatch& /*batch*/, double seconds) const override { return 500 * seconds; }
  };
  const ServeRun all = run(trace_of({{.prompt_tokens = 100, .output_tokens = 3}}), options_of(), Watts());
  EXPECT_NEAR(all.counts.joules, 500 * 0.042, 1e-9);
  EXPECT_TRUE(std::isnan(run(trace_of({{}}), options_of()).counts.joules));
}

TEST(ServeShape, SaysWhichShapesThereAreNot) {
  const auto where_of = [](void (*change)(ServeOptions&)) {
    ServeOptions options = options_of();
    change(options);
    const Result<ServeRun> run = serve(trace_of({{}}), options, ToyTime());
    return run ? std::string("ok") : run.error().where;
  };
  EXPECT_EQ(where_of([](ServeOptions& options) { options.data_parallel = 0; }), "data_parallel");
  EXPECT_EQ(where_of([](ServeOptions& options) { options.pipeline_parallel = 0; }), "pipeline_parallel");
  EXPECT_EQ(where_of([](ServeOptions& options) { options.data_parallel = options.pipeline_parallel = 2; }),
            "pipeline_parallel");
  EXPECT_EQ(where_of([](ServeOptions& options) { options.prefill_replicas = -1; }), "prefill_replicas");
  EXPECT_EQ(where_of([](ServeOptions& options) { options.balance_steps = -1; }), "balance_steps");
  EXPECT_EQ(where_of([](ServeOptions& options) { options.most_in_flight = -1; }), "most_in_flight");
  EXPECT_EQ(where_of([](ServeOptions& options) { options.limits.acceptance = 1.5; }), "acceptance");
  EXPECT_EQ(where_of([](ServeOptions& options) { options.limits.draft_tokens = 8; }), "step_tokens");
}

}  // namespace
}  // namespace perfcast::ai
