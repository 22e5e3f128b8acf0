#include "studies/serving/end_to_end_evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ai/engine/testing/test_engine.h"
#include "studies/serving/end_to_end_service.h"

namespace perfcast::ai::serving_study {
namespace {

constexpr double kSlower = 1.25;  // measured over simulated

DeviceCatalogue devices() {
  DeviceCatalogue catalogue{{engine_test::device(), engine_test::device()}};
  catalogue.devices[0].aliases = {"b200"};
  catalogue.devices[1].aliases = {"h100"};
  catalogue.devices[1].name = "Other GPU";
  return catalogue;
}

EngineBundle bundle() {
  EngineBundle made;
  for (const char* name : {"vllm", "sglang", "tensorrt-llm"}) {
    made.engines.push_back(engine_test::profile());
    made.engines.back().name = name;
  }
  return made;
}

// Two groups of each engine; SGLang's are two formats.
std::vector<EndToEndPoint> points() {
  std::vector<EndToEndPoint> points;
  for (const char* engine : {"vllm", "sglang", "tensorrt-llm"}) {
    const bool by_format = engine == std::string("sglang");
    for (const bool second : {false, true}) {
      for (const int64_t prompt : {64, 256}) {
        EndToEndPoint point;
        point.engine = engine;
        point.model = "llama3.1-8b";
        point.system = second && !by_format ? "h100_sxm" : "b200_sxm";
        point.precision = second && by_format ? "bf16" : "";
        point.prompt_tokens = prompt;
        point.output_tokens = 4;
        point.clients = 1;
        const auto times = EndToEndService::of(point, devices())->simulate(**bundle().find(engine));
        point.first_s = kSlower * times->first_s;
        point.further_s = kSlower * times->further_s;
        points.push_back(point);
      }
    }
  }
  return points;
}

const EndToEndScore& score_of(const EndToEndEvaluation& evaluation, const std::string& engine,
                              const std::string& figure, const std::string& part = "all") {
  const auto found = std::find_if(evaluation.scores.begin(), evaluation.scores.end(), [&](const EndToEndScore& each) {
    return each.engine == engine && each.figure == figure && each.part == part && each.predictor == "perfcast" &&
           !std::isnan(each.coverage);
  });
  EXPECT_NE(found, evaluation.scores.end());
  return *found;
}

TEST(EndToEndEvaluation, ScoresAndWidths) {
  const auto evaluation = evaluate_end_to_end(points(), devices(), bundle(), 1);
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  for (const char* figure : {"further token", "first token"}) {
    for (const char* engine : {"vllm", "tensorrt-llm", "sglang"}) {
      const EndToEndScore& score = score_of(*evaluation, engine, figure);
      EXPECT_EQ(score.n, 4);
      EXPECT_NEAR(score.mean_error, 1 - 1 / kSlower, 1e-9) << engine;
      EXPECT_NEAR(score.bias, 1 / kSlower - 1, 1e-9);
    }
    EXPECT_EQ(score_of(*evaluation, "vllm", figure, "h100_sxm llama3.1-8b").n, 2);
    EXPECT_EQ(score_of(*evaluation, "sglang", figure, "b200_sxm llama3.1-8b bf16").n, 2);
    EXPECT_EQ(score_of(*evaluation, "vllm", figure).split, "no point was fitted");
    EXPECT_EQ(score_of(*evaluation, "sglang", figure).split, "a format left out");
  }
  ASSERT_EQ(evaluation->profiles.size(), 3U);
  const EngineProfile& rt = evaluation->profiles[0];
  EXPECT_EQ(rt.name, "tensorrt-llm");
  EXPECT_EQ(rt.rows, 4);
  EXPECT_EQ(rt.devices, (std::vector<std::string>{"Other GPU", "Test GPU"}));
  // All errors are the same: their spread is their size, and the end of a normal 90% beyond them.
  EXPECT_NEAR(rt.spread.token_one_log_sd, std::log(kSlower), 6e-4);
  EXPECT_NEAR(rt.spread.service_token_ratio, 0.64, 0.06);
  EXPECT_EQ(rt.constants.host_step_ms, engine_test::profile().constants.host_step_ms);
  // Nothing of these points depends on how kernels of experts are launched: SGLang's constant stays.
  EXPECT_NEAR(evaluation->profiles[1].constants.eager_kernel_us, 30, 1e-3);
  EXPECT_EQ(evaluation->profiles[1].models, (std::vector<std::string>{"llama3.1-8b"}));

  EngineBundle made = bundle();
  set_profiles(*evaluation, made);
  EXPECT_EQ(made.engines[2].rows, 4);
  EXPECT_EQ(made.engines[0].spread.token_one_log_sd, engine_test::profile().spread.token_one_log_sd);
  EXPECT_EQ(made.engines[0].spread.service_token_ratio, evaluation->profiles[2].spread.service_token_ratio);
}

TEST(EndToEndEvaluation, NeedsEachEngine) {
  auto some = points();
  some.resize(4);
  EXPECT_EQ(evaluate_end_to_end(some, devices(), bundle(), 1).error().code, "too-few-rows");
}

}  // namespace
}  // namespace perfcast::ai::serving_study
