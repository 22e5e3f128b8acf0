// Replicas of several engines, stages and pools, requests that are held back, guesses: times summed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ai/serving/serve.h"
#include "ai/serving/testing/toy_time.h"

namespace perfcast::ai {
namespace {

ServeOptions sized(int64_t cache_tokens = 10000) {
  ServeOptions options;
  options.limits.cache_tokens = cache_tokens;
  return options;
}

ServeRun served(std::vector<ServingRequest> requests, const ServeOptions& options, const BatchTime& times = ToyTime()) {
  ServingTrace trace;
  trace.requests = std::move(requests);
  Result<ServeRun> run = serve(trace, options, times);
  EXPECT_TRUE(run) << to_text(run.error());
  return *std::move(run);
}

TEST(ServeParallel, RequestsBeyondTheLimitWaitAtTheirClient) {
  ServeOptions options = sized();
  options.most_in_flight = 2;
  const ServingRequest one{.prompt_tokens = 100, .output_tokens = 1};
  ServingRequest late = one;
  late.arrival_s = 1;
  const ServeRun all = served({one, one, one, late}, options);
  EXPECT_DOUBLE_EQ(all.sent_s[1], 0);
  EXPECT_NEAR(all.outcomes[1].first_token_s, 0.030, 1e-12);  // two prompts in a step
  EXPECT_NEAR(all.sent_s[2], 0.030, 1e-12);
  EXPECT_NEAR(all.outcomes[2].first_token_s, 0.050, 1e-12);
  EXPECT_DOUBLE_EQ(all.sent_s[3], 1);
}

// A millisecond for each token of all engines, and 10 ms.
class SharedTime final : public BatchTime {
 public:
  double seconds(const StepBatch& batch) const override { return 0.010 + 0.001 * batch.shared_tokens; }
};

TEST(ServeParallel, EnginesThatShareExpertsStepTogether) {
  ServeOptions options = sized();
  options.data_parallel = 2;
  const std::vector<ServingRequest> requests = {{.prompt_tokens = 100, .output_tokens = 3},
                                                {.prompt_tokens = 300, .output_tokens = 2},
                                                {.arrival_s = 0.001, .prompt_tokens = 100, .output_tokens = 1}};
  // Steps of 40 ms (the longer prompt), of 22 ms (a token beside the third request's prompt), of 11 ms.
  const ServeRun all = served(requests, options);
  EXPECT_NEAR(all.outcomes[0].first_token_s, 0.040, 1e-12);
  EXPECT_NEAR(all.outcomes[1].first_token_s, 0.040, 1e-12);
  EXPECT_NEAR(all.outcomes[2].first_token_s, 0.061, 1e-12);
  EXPECT_NEAR(all.outcomes[1].last_token_s, 0.061, 1e-12);
  EXPECT_NEAR(all.outcomes[0].last_token_s, 0.072, 1e-12);
  EXPECT_EQ(all.outcomes[1].replica, 0);
  // 400 tokens, then two and the prompt, then one.
  const ServeRun shared = served(requests, options, SharedTime());
  EXPECT_NEAR(shared.outcomes[0].first_token_s, 0.410, 1e-12);
  EXPECT_NEAR(shared.outcomes[2].first_token_s, 0.410 + 0.112, 1e-12);
  EXPECT_NEAR(shared.outcomes[0].last_token_s, 0.522 + 0.011, 1e-12);
}

TEST(ServeParallel, StepsOfAPipelineFollowEachOther) {
  ServeOptions options = sized();
  options.pipeline_parallel = 2;
  options.hop_s = 0.001;
  const ServingRequest one{.prompt_tokens = 100, .output_tokens = 2};
  const ServeRun all = served({one, one}, options);
  // Stages of 10 ms: 0 to 10, 11 to 21; 10 to 20, 21 to 31. Then of 5.5 ms: 21 to 26.5, 31 to 36.5; 31 to 36.5, 37.5 to
  // 43.
  EXPECT_NEAR(all.outcomes[0].first_token_s, 0.021, 1e-12);
  EXPECT_NEAR(all.outcomes[1].first_token_s, 0.031, 1e-12);
  EXPECT_NEAR(all.outcomes[0].last_token_s, 0.0365, 1e-12);
  EXPECT_NEAR(all.outcomes[1].last_token_s, 0.043, 1e-12);
  EXPECT_EQ(all.cache_blocks, 10000 / 2 / 16);
}

TEST(ServeParallel, APipelineIsAsFastAsItsStagesAndASingleStreamIsNot) {
  ServeOptions options = sized();
  options.pipeline_parallel = 4;
  std::vector<ServingRequest> requests(4, {.prompt_tokens = 1, .output_tokens = 101});
  const double four_s = served(requests, options).end_s;
  requests.resize(1);
  const double one_s = served(requests, options).end_s;
  EXPECT_NEAR(one_s, 0.0101 + 100 * 0.011, 1e-9);
  EXPECT_NEAR(four_s / one_s, 1, 0.02);  // four streams in the time of one
}

TEST(ServeParallel, GuessesAreKeptInTheMean) {
  ServeOptions options = sized();
  options.limits.draft_tokens = 1;
  options.limits.acceptance = 0.5;
  EXPECT_DOUBLE_EQ(options.limits.tokens_per_step(), 1.5);
  // One token with the prompt; steps of one, two, one.
  const ServeRun five = served({{.prompt_tokens = 100, .output_tokens = 5}}, options);
  EXPECT_NEAR(five.outcomes[0].last_token_s, 0.020 + 3 * 0.011, 1e-12);
  EXPECT_DOUBLE_EQ(five.counts.generated_tokens, 5);
  options.limits.draft_tokens = 3;
  options.limits.acceptance = 1;
  EXPECT_DOUBLE_EQ(options.limits.tokens_per_step(), 4);
  // Steps of four; three of the last are beyond the end.
  const ServeRun six = served({{.prompt_tokens = 100, .output_tokens = 6}}, options);
  EXPECT_NEAR(six.outcomes[0].last_token_s, 0.020 + 2 * 0.011, 1e-12);
  EXPECT_DOUBLE_EQ(six.counts.generated_tokens, 6);
}

TEST(ServeParallel, RequestsGoOnElsewhereWithTheirKeys) {
  ServeOptions options = sized();
  options.prefill_replicas = 1;
  options.transfer_s = 0.005;
  options.transfer_token_s = 1e-5;
  const ServingRequest one{.prompt_tokens = 100, .output_tokens = 3};
  const ServeRun all = served({one, one, {.prompt_tokens = 100, .output_tokens = 1}}, options);
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

TEST(ServeParallel, EnergyIsThatOfStepsAndOfIdling) {
  class Watts final : public BatchTime {
   public:
    double seconds(const StepBatch& batch) const override { return ToyTime().seconds(batch); }
    double joules(const StepBatch& /*batch*/, double seconds) const override { return 500 * seconds; }
  };
  const ServeRun all = served({{.prompt_tokens = 100, .output_tokens = 3}}, sized(), Watts());
  EXPECT_NEAR(all.counts.joules, 500 * 0.042, 1e-9);
  EXPECT_TRUE(std::isnan(served({{}}, sized()).counts.joules));
}

TEST(ServeParallel, SaysWhichShapesThereAreNot) {
  const auto where_of = [](void (*change)(ServeOptions&)) {
    ServeOptions options = sized();
    change(options);
    ServingTrace trace;
    trace.requests.emplace_back();
    const Result<ServeRun> run = serve(trace, options, ToyTime());
    return run ? std::string("ok") : run.error().where;
  };
  EXPECT_EQ(where_of([](ServeOptions& options) { options.data_parallel = 0; }), "data_parallel");
  EXPECT_EQ(where_of([](ServeOptions& options) { options.pipeline_parallel = 0; }), "pipeline_parallel");
  EXPECT_EQ(where_of([](ServeOptions& options) { options.data_parallel = options.pipeline_parallel = 2; }),
            "pipeline_parallel");
  EXPECT_EQ(where_of([](ServeOptions& options) { options.prefill_replicas = -1; }), "prefill_replicas");
  EXPECT_EQ(where_of([](ServeOptions& options) { options.most_in_flight = -1; }), "most_in_flight");
  EXPECT_EQ(where_of([](ServeOptions& options) { options.limits.acceptance = 1.5; }), "acceptance");
  EXPECT_EQ(where_of([](ServeOptions& options) { options.limits.draft_tokens = 8; }), "step_tokens");
}

}  // namespace
}  // namespace perfcast::ai
