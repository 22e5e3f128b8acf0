#include "studies/serving/end_to_end_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace perfcast::ai::serving_study {
namespace {

constexpr const char* kHead =
    "silicon_data_source,backend,model_path,system,precision,mode,isl,osl,batch_size,tp_size,pp_size,attention_dp_size,"
    "moe_tp_size,moe_ep_size,silicon_ttft_ms,silicon_tpot_ms\n";

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
      "a local file,trtllm,m,h100_sxm,fp8,agg,1024,128,8.0,2.0,1.0,,1.0,1.0,100,7\n"
      "a local file,trtllm,m,h100_sxm,fp8,agg,1024,128,8.0,2.0,1.0,,1.0,1.0,140,9\n");
  ASSERT_EQ(all.points.size(), 1U);
  const EndToEndPoint& point = all.points.front();
  EXPECT_EQ(point.engine, "tensorrt-llm");
  EXPECT_EQ(point.clients, 8);
  EXPECT_EQ(point.tensor_parallel, 2);
  EXPECT_EQ(point.groups, 1);
  EXPECT_FALSE(point.drawn_lengths);
  EXPECT_DOUBLE_EQ(point.first_s, 0.12);
  EXPECT_DOUBLE_EQ(point.further_s, 0.008);
}

TEST(EndToEndPoints, DegreesThatAreStatedTwiceOver) {
  const EndToEndPoints all = read(
      "x,vllm,m,b200_sxm,fp4,agg,1024,128,8,16,1,1,4,4,100,7\n"
      "x,vllm,m,b200_sxm,fp4,agg,1024,128,8,1,1,16,4,4,100,8\n"
      "x,vllm,m,b200_sxm,fp4,agg,1024,128,8,8,1,1,2,4,100,9\n");
  ASSERT_EQ(all.points.size(), 3U);
  EXPECT_EQ(all.points[0].tensor_parallel, 1);
  EXPECT_EQ(all.points[0].groups, 4);
  EXPECT_EQ(all.points[1].tensor_parallel, 4);
  EXPECT_EQ(all.points[2].tensor_parallel, 8);  // experts are shared by 2 x 4 of them
  EXPECT_TRUE(all.points[0].drawn_lengths);
}

TEST(EndToEndPoints, WhatIsLeftOutIsCounted) {
  const EndToEndPoints all = read(
      "x,vllm,m,b200_sxm,fp4,disagg,1024,128,8,1,1,1,1,1,100,7\n"
      "x,vllm,m,b200_sxm,fp4,agg,1024,128,8,1,1,1,1,1,900,7\n"  // 128 tokens of 7 ms
      "x,vllm,m,b200_sxm,fp4,agg,1024,128,8,1,2,1,1,1,100,7\n"
      "x,other,m,b200_sxm,fp4,agg,1024,128,8,1,1,1,1,1,100,7\n"
      "x,vllm,m,b200_sxm,fp4,agg,1024,128,8,1,1,1,1,1,,7\n");
  EXPECT_TRUE(all.points.empty());
  EXPECT_THAT(all.left_out,
              ::testing::ElementsAre(::testing::Pair("engine not known", 1), ::testing::Pair("no time above 0", 1),
                                     ::testing::Pair("pipeline parallel", 1),
                                     ::testing::Pair("prompts and tokens on different devices", 1),
                                     ::testing::Pair("waits longer than it runs", 1)));
}

TEST(EndToEndPoints, ModelsAsTheyAreRun) {
  EndToEndPoint point;
  point.model = "deepseek-ai/DeepSeek-V3";
  point.precision = "fp4";
  EXPECT_EQ(model_of(point)->stored_weight_name, "nvfp4");
  point.precision = "fp8";
  EXPECT_EQ(model_of(point)->stored_weight_name, "fp8");
  point.model = "openai/gpt-oss-120b";
  EXPECT_EQ(model_of(point)->stored_weight_name, "mxfp4");
  point.model = "zhipuai/GLM-5";
  EXPECT_EQ(model_of(point).error().code, "unknown-model");
}

// Ten requests for each client; drawn lengths are 90% of what was asked for, in the mean.
TEST(EndToEndPoints, LoadsOfClients) {
  EndToEndPoint point;
  point.prompt_tokens = 1000;
  point.output_tokens = 100;
  point.clients = 30;
  point.groups = 4;
  const ServingTrace exact = trace_of(point);
  ASSERT_EQ(exact.requests.size(), 1200U);
  EXPECT_EQ(exact.requests.back().prompt_tokens, 1000);
  point.drawn_lengths = true;
  double sum = 0;
  for (const ServingRequest& request : trace_of(point).requests) sum += static_cast<double>(request.prompt_tokens);
  EXPECT_NEAR(sum / 1200, 900, 9);
}

}  // namespace
}  // namespace perfcast::ai::serving_study
