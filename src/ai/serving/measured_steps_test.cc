#include "ai/serving/measured_steps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/serving/measured_forecast.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

MeasuredSteps some_steps() {
  MeasuredSteps steps;
  steps.model = "m";
  steps.weights = "fp32";
  steps.cpu = "a CPU";
  steps.parameters = 1000;
  steps.threads = 2;
  steps.limits = {
      .max_sequences = 2, .step_tokens = 32, .cache_tokens = 128, .context_tokens = 64, .prefix_cache = false};
  steps.layers = {{1, 1.0}, {2, 1.5}, {16, 3}, {32, 5}};
  steps.head = {{1, 0.1}, {2, 0.3}};
  steps.exact_rows = 2;
  steps.attention = {
      .sequence_s = 0.01, .sequence_key_s = 0.001, .prompt_s = 0.02, .prompt_token_s = 0.002, .prompt_pair_s = 1e-4};
  steps.checked_steps = 5;
  steps.log_half_width = std::log(2);
  return steps;
}

TEST(MeasuredSteps, AreSumsOfTheirParts) {
  MeasuredSteps steps = some_steps();
  const MeasuredStepTime times(steps);
  EXPECT_DOUBLE_EQ(times.seconds({.decodes = 2, .decode_context_tokens = 30}), 1.5 + 0.3 + 0.02 + 0.03);
  // 2 + 10 rows are filled up to 16.
  const StepBatch mixed{
      .decodes = 1, .decode_context_tokens = 10, .prefills = 1, .prefill_tokens = 10, .prefill_pairs = 55};
  EXPECT_DOUBLE_EQ(times.seconds(mixed), 3 + 0.3 + 0.01 + 0.01 + 0.02 + 0.02 + 0.0055);
  steps.scale = 2;
  EXPECT_DOUBLE_EQ(MeasuredStepTime(steps, 3).seconds({.prefills = 1, .prefill_tokens = 1, .prefill_pairs = 1}),
                   6 * (1 + 0.1 + 0.02 + 0.002 + 1e-4));
  // Between two rows a straight line, above the last in proportion: 48 rows are half of 32 more.
  EXPECT_DOUBLE_EQ(MeasuredStepTime(steps).seconds({.prefills = 1, .prefill_tokens = 40}),
                   2 * (7.5 + 0.1 + 0.02 + 0.08));
}

TEST(MeasuredSteps, AreReadAsTheyWereWritten) {
  const MeasuredSteps steps = some_steps();
  const auto read = parse_measured_steps(to_text(to_json(steps)), "steps.json");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(to_json(*read), to_json(steps));
  EXPECT_EQ(read->limits.max_sequences, 2);
  EXPECT_FALSE(read->limits.prefix_cache);
}

TEST(MeasuredSteps, EveryMistakeIsNamed) {
  EXPECT_EQ(parse_measured_steps("{}", "f").error().code, "bad-schema");
  EXPECT_EQ(parse_measured_steps("{", "f").error().code, "bad-json");
  Json json = to_json(some_steps());
  json["layers"] = Json::array({{{"rows", 2}, {"seconds", 1}}, {{"rows", 2}, {"seconds", 0}}});
  json["head"] = Json::array();
  json["attention"]["prompt_s"] = -1;
  const auto bad = parse_measured_steps(to_text(json), "f");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, "bad-json-field");
  for (const char* const word : {"ascend", "without time", "no value"}) {
    EXPECT_NE(bad.error().message.find(word), std::string::npos) << bad.error().message;
  }
  json = to_json(some_steps());
  json["attention"]["prompt_s"] = -1;
  EXPECT_NE(parse_measured_steps(to_text(json), "f").error().message.find("prompt_s"), std::string::npos);
  json = to_json(some_steps());
  json["step_tokens"] = 1;
  EXPECT_EQ(parse_measured_steps(to_text(json), "f").error().where, "f.step_tokens");
}

TEST(MeasuredSteps, OneRequestTakesItsSteps) {
  const MeasuredSteps steps = some_steps();
  ServingRequestFor request;
  request.loads.push_back({.rate_per_s = 1, .words = "one", .trace = [] {
                             ServingTrace trace;
                             trace.requests.push_back({.prompt_tokens = 40, .output_tokens = 2});
                             return trace;
                           }});
  take_engine(steps, request);
  const auto result = forecast_measured(steps, request);
  ASSERT_TRUE(result) << to_text(result.error());
  const MeasuredStepTime times(steps);
  // 32 tokens of the prompt, then 8, then a token that sees 41.
  const double first_s = times.seconds({.prefills = 1, .prefill_tokens = 32, .prefill_pairs = 32 * 33 / 2.0}) +
                         times.seconds({.prefills = 1, .prefill_tokens = 8, .prefill_pairs = 8 * 32 + 8 * 9 / 2.0});
  const ServingRow& row = result->rows.front();
  EXPECT_DOUBLE_EQ(row.forecast.first_token.p50, first_s);
  EXPECT_DOUBLE_EQ(row.forecast.further_token.p50, times.seconds({.decodes = 1, .decode_context_tokens = 41}));
  EXPECT_DOUBLE_EQ(row.slow.first_token.p50, 2 * first_s);
  EXPECT_DOUBLE_EQ(row.fast.first_token.p50, first_s / 2);
  EXPECT_EQ(result->request.devices.front().facts.name, "a CPU");

  request.context_tokens = 10;
  EXPECT_EQ(forecast_measured(steps, request).error().code, "too-long");
}

}  // namespace
}  // namespace perfcast::ai
