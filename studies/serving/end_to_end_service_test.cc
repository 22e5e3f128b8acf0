#include "studies/serving/end_to_end_service.h"

#include <gtest/gtest.h>

#include "ai/engine/testing/test_engine.h"

namespace perfcast::ai::serving_study {
namespace {

EndToEndPoint point_of(const char* engine, const char* model, const char* precision) {
  EndToEndPoint point;
  point.engine = engine;
  point.model = model;
  point.precision = precision;
  point.system = "b200_sxm";
  point.prompt_tokens = 8192;
  point.output_tokens = 1024;
  point.clients = 64;
  point.tensor_parallel = 8;
  point.drawn_lengths = true;
  return point;
}

TEST(EndToEndService, AsTheBenchmarkStartsIt) {
  const ServiceSettings trt = settings_of(point_of("tensorrt-llm", "deepseek-r1", "fp8"));
  EXPECT_EQ(trt.kv, Precision::kFp8);
  EXPECT_EQ(trt.step_tokens, 8320);  // 64 clients, a prompt and 64 more
  EXPECT_EQ(trt.receive_steps, 1);
  EXPECT_EQ(settings_of(point_of("tensorrt-llm", "gpt-oss-120b", "fp4")).step_tokens, 20000);
  EndToEndPoint sglang = point_of("sglang", "deepseek-r1", "fp8");
  EXPECT_EQ(settings_of(sglang).step_tokens, 32768);
  EXPECT_EQ(settings_of(sglang).receive_steps, 30);
  sglang.tensor_parallel = 4;
  EXPECT_EQ(settings_of(sglang).step_tokens, 8192);
  EXPECT_EQ(settings_of(sglang).receive_steps, 10);
  sglang.precision = "fp4";
  sglang.clients = 8;
  EXPECT_EQ(settings_of(sglang).step_tokens, 16384);
  EXPECT_EQ(settings_of(sglang).receive_steps, 10);
  EXPECT_EQ(settings_of(point_of("vllm", "gpt-oss-120b", "fp4")).kv, Precision::kFp8);
  EXPECT_EQ(settings_of(point_of("vllm", "kimi-k2.5", "fp4")).kv, Precision::kBf16);
  EndToEndPoint elsewhere = point_of("sglang", "deepseek-r1", "fp8");
  elsewhere.drawn_lengths = false;
  EXPECT_FALSE(settings_of(elsewhere).step_tokens);
}

// A client at a time: ten prompts, each alone.
TEST(EndToEndService, ASlowerEngineTakesLonger) {
  EndToEndPoint point = point_of("vllm", "llama3.1-8b", "");
  point.clients = point.tensor_parallel = 1;
  point.drawn_lengths = false;
  DeviceFacts device = engine_test::device();
  device.aliases = {"b200"};
  const auto service = EndToEndService::of(point, DeviceCatalogue{{device}});
  ASSERT_TRUE(service) << to_text(service.error());
  const EngineProfile profile = engine_test::profile();
  const auto times = service->simulate(profile), slow = service->simulate(profile, 1);
  ASSERT_TRUE(times) << to_text(times.error());
  EXPECT_GT(times->further_s, 16e9 / 1e12);
  EXPECT_GT(times->first_s, times->further_s);
  EXPECT_GT(slow->further_s, 1.05 * times->further_s);
  EXPECT_GT(slow->first_s, 1.2 * times->first_s);
  point.system = "tpu";
  EXPECT_EQ(EndToEndService::of(point, DeviceCatalogue{{device}}).error().code, "unknown-device");
}

}  // namespace
}  // namespace perfcast::ai::serving_study
