#include "studies/serving/end_to_end_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace perfcast::ai::serving_study {
namespace {

constexpr const char* kHead =
    "silicon_data_source,backend,backend_version,model_path,system,precision,mode,isl,osl,batch_size,tp_size,pp_size,"
    "attention_dp_size,moe_tp_size,moe_ep_size,silicon_ttft_ms,silicon_tpot_ms\n";

EndToEndPoints read(const std::string& rows) {
  const std::string path = ::testing::TempDir() + "/end_to_end_points.csv";
  std::ofstream(path) << kHead << rows;
  auto read = read_end_to_end(path);
  std::filesystem::remove(path);
  EXPECT_TRUE(read) << to_text(read.error());
  return *std::move(read);
}

TEST(EndToEndPoints, RowsOfOneSettingAreOnePoint) {
  const EndToEndPoints all = read(
      "a local file,trtllm,1.0,openai/gpt-oss-120b,h100_sxm,fp8,agg,1024,128,8.0,2.0,1.0,,1.0,1.0,100,7\n"
      "a local file,trtllm,1.0,openai/gpt-oss-120b,h100_sxm,fp8,agg,1024,128,8.0,2.0,1.0,,1.0,1.0,140,9\n");
  ASSERT_EQ(all.points.size(), 1U);
  const EndToEndPoint& point = all.points.front();
  EXPECT_EQ(point.engine, "tensorrt-llm");
  EXPECT_EQ(point.model, "gpt-oss-120b");
  EXPECT_EQ(point.group(), "h100_sxm gpt-oss-120b");
  EXPECT_EQ(point.clients, 8);
  EXPECT_EQ(point.tensor_parallel, 2);
  EXPECT_EQ(point.groups, 1);
  EXPECT_FALSE(point.drawn_lengths);
  EXPECT_DOUBLE_EQ(point.first_s, 0.12);
  EXPECT_DOUBLE_EQ(point.further_s, 0.008);
}

TEST(EndToEndPoints, DegreesThatAreStatedTwiceOver) {
  const EndToEndPoints all = read(
      "x,vllm,1,openai/gpt-oss-120b,b200_sxm,fp4,agg,1024,128,8,16,1,1,4,4,100,7\n"
      "x,vllm,1,openai/gpt-oss-120b,b200_sxm,fp4,agg,1024,128,8,1,1,16,4,4,100,8\n"
      "x,vllm,1,openai/gpt-oss-120b,b200_sxm,fp4,agg,1024,128,8,8,1,1,2,4,100,9\n"
      "x,vllm,1,openai/gpt-oss-120b,b200_sxm,fp4,agg,1024,128,2,4,1,4,1,16,100,9\n");
  ASSERT_EQ(all.points.size(), 4U);
  EXPECT_EQ(all.points[0].tensor_parallel, 1);  // 2 clients of each of 4, which share attention and experts
  EXPECT_EQ(all.points[0].groups, 4);
  EXPECT_EQ(all.points[0].clients, 2);
  EXPECT_EQ(all.points[1].tensor_parallel, 4);
  EXPECT_EQ(all.points[1].clients, 8);
  EXPECT_EQ(all.points[2].tensor_parallel, 8);  // experts are shared by 2 x 4 of them
  EXPECT_EQ(all.points[3].groups, 4);
  EXPECT_EQ(all.points[3].clients, 32);  // 8 times 16 of them, on 4 groups
  EXPECT_TRUE(all.points[0].drawn_lengths);
}

// R1 and V3 are one model; the newest export has its runs.
TEST(EndToEndPoints, OfSeveralExportsTheNewestCounts) {
  const EndToEndPoints all = read(
      "source_file=2026-03-25.csv; m,sglang,1,deepseek-ai/DeepSeek-R1,b200_sxm,fp8,agg,1024,128,8,8,1,1,8,1,100,7\n"
      "db-dump/2026-04-27; m,sglang,1,deepseek-ai/DeepSeek-V3,b200_sxm,fp8,agg,1024,128,8,8,1,1,8,1,100,9\n"
      "source_file=2026-03-25.csv; m,sglang,1,deepseek-ai/DeepSeek-R1,b200_sxm,fp4,agg,1024,128,8,8,1,1,8,1,100,6\n");
  ASSERT_EQ(all.points.size(), 2U);
  EXPECT_DOUBLE_EQ(all.points[0].further_s, 0.006);
  EXPECT_DOUBLE_EQ(all.points[1].further_s, 0.009);
  EXPECT_EQ(all.points[1].model, "deepseek-r1");
  EXPECT_THAT(all.left_out, ::testing::ElementsAre(::testing::Pair("an older export of the same runs", 1)));
}

TEST(EndToEndPoints, WhatIsLeftOutIsCounted) {
  const EndToEndPoints all = read(
      "x,vllm,1,openai/gpt-oss-120b,b200_sxm,fp4,disagg,1024,128,8,1,1,1,1,1,100,7\n"
      "x,vllm,1,openai/gpt-oss-120b,b200_sxm,fp4,agg,1024,128,8,1,1,1,1,1,900,7\n"  // 128 tokens of 7 ms
      "x,vllm,1,openai/gpt-oss-120b,b200_sxm,fp4,agg,1024,128,8,1,2,1,1,1,100,7\n"
      "x,other,1,openai/gpt-oss-120b,b200_sxm,fp4,agg,1024,128,8,1,1,1,1,1,100,7\n"
      "x,vllm,1,zhipuai/GLM-5,b200_sxm,fp4,agg,1024,128,8,1,1,1,1,1,100,7\n"
      "x,vllm,,openai/gpt-oss-120b,b200_sxm,fp4,agg,1024,128,8,1,1,1,1,1,100,7\n"
      "x silicon_concurrency=9; y,vllm,1,openai/gpt-oss-120b,b200_sxm,fp4,agg,1024,128,8,1,1,1,1,1,100,7\n"
      "x,vllm,1,openai/gpt-oss-120b,b200_sxm,fp4,agg,1024,128,8,1,1,1,1,1,,7\n");
  EXPECT_TRUE(all.points.empty());
  EXPECT_THAT(
      all.left_out,
      ::testing::ElementsAre(
          ::testing::Pair("engine not known", 1), ::testing::Pair("model not known", 1),
          ::testing::Pair("no time above 0", 1), ::testing::Pair("numbers of clients that contradict each other", 1),
          ::testing::Pair("pipeline parallel", 1), ::testing::Pair("prompts and tokens on different devices", 1),
          ::testing::Pair("version of the engine not stated", 1), ::testing::Pair("waits longer than it runs", 1)));
}

TEST(EndToEndPoints, ModelsAsTheyAreRun) {
  EndToEndPoint point;
  point.model = "deepseek-r1";
  point.precision = "fp4";
  EXPECT_EQ(model_of(point)->stored_weight_name, "nvfp4");
  point.precision = "fp8";
  EXPECT_EQ(model_of(point)->stored_weight_name, "fp8");
  point.precision = "int3";
  EXPECT_EQ(model_of(point).error().code, "unknown-precision");
  point.model = "gpt-oss-120b";
  EXPECT_EQ(model_of(point)->stored_weight_name, "mxfp4");
}

// Ten requests for each client; those of the public benchmark have 90% of the length that was asked for, in the mean.
TEST(EndToEndPoints, LoadsOfClients) {
  EndToEndPoint point;
  point.prompt_tokens = 1000;
  point.output_tokens = 100;
  point.clients = 30;
  point.groups = 4;
  const auto mean_prompt = [&] {
    const ServingTrace trace = trace_of(point);
    EXPECT_EQ(trace.requests.size(), 1200U);
    double sum = 0;
    for (const ServingRequest& request : trace.requests) sum += static_cast<double>(request.prompt_tokens);
    return sum / 1200;
  };
  EXPECT_NEAR(mean_prompt(), 1000, 10);
  point.drawn_lengths = true;
  EXPECT_NEAR(mean_prompt(), 900, 9);
}

}  // namespace
}  // namespace perfcast::ai::serving_study
