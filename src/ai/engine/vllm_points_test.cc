#include "ai/engine/vllm_points.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace perfcast::ai {
namespace {

constexpr const char* kHeader =
    "vendor,server,mode,gpu_model,gpu_count,tensor_parallel,model_id,prompt_tokens,output_tokens,dtype,strategy,vllm,"
    "ttft_p50_ms,itl_p50_ms,tpot_p50_ms,cpu_model,vcpus\n";

struct Cells {
  std::string server = "s1", mode = "gpu", gpu = "NVIDIA L4", degree = "1", prompt = "256", version = "0.22.1";
  double first_ms = 50, further_ms = 10;
  std::string first = {}, client = {};  // in the place of the numbers
};

// 101 output tokens.
std::string row(const Cells& cells = {}) {
  const double client_ms = (cells.first_ms + 100 * cells.further_ms) / 101;
  return fmt::format("gcp,{},{},{},1,{},Qwen/Qwen2.5-0.5B-Instruct,{},101,bfloat16,synchronous,{},{},{},{},a CPU,8\n",
                     cells.server, cells.mode, cells.gpu, cells.degree, cells.prompt, cells.version,
                     cells.first.empty() ? fmt::format("{}", cells.first_ms) : cells.first, cells.further_ms,
                     cells.client.empty() ? fmt::format("{:.6f}", client_ms) : cells.client);
}

TEST(VllmPoints, Read) {
  const auto points = parse_vllm_points(kHeader + row(), "points.csv");
  ASSERT_TRUE(points) << to_text(points.error());
  ASSERT_EQ(points->points.size(), 1U);
  const VllmPoint& point = points->points[0];
  EXPECT_TRUE(point.on_gpu);
  EXPECT_EQ(point.gpu, "NVIDIA L4");
  EXPECT_EQ(point.model, "Qwen/Qwen2.5-0.5B-Instruct");
  EXPECT_EQ(point.prompt_tokens, 256);
  EXPECT_EQ(point.output_tokens, 101);
  EXPECT_DOUBLE_EQ(point.first_s, 0.05);
  EXPECT_DOUBLE_EQ(point.further_s, 0.01);
  EXPECT_NEAR(point.client_token_s, 1.05 / 101, 1e-8);
  EXPECT_EQ(point.vcpus, 8);
  EXPECT_TRUE(std::isnan(point.concurrency));
  EXPECT_TRUE(points->left_out.empty());
  EXPECT_EQ(single_streams(*points).size(), 1U);
}

TEST(VllmPoints, OnCpus) {
  std::string text = kHeader + row() + row({.mode = "cpu", .gpu = "", .degree = "0"}) +
                     row({.server = "s2", .mode = "cpu", .gpu = "", .degree = "4"});
  text.replace(text.find("vcpus"), 5, "avx512");  // in the place of the 8 vCPUs
  for (const char* value : {"1", "True", "False"}) text.replace(text.find("a CPU,8"), 7, std::string("a CPU,") + value);
  const auto points = parse_vllm_points(text, "points.csv");
  ASSERT_TRUE(points) << to_text(points.error());
  EXPECT_EQ(single_streams(*points).size(), 1U);
  const std::vector<VllmPoint> streams = single_streams(*points, PointHardware::kCpu);
  ASSERT_EQ(streams.size(), 2U);
  EXPECT_FALSE(points->points[0].avx512);
  EXPECT_EQ(streams[0].avx512, true);
  EXPECT_EQ(streams[0].tensor_parallel, 1);
  EXPECT_EQ(streams[1].avx512, false);
  EXPECT_EQ(streams[1].tensor_parallel, 4);
}

TEST(VllmPoints, OtherUnitsAreConverted) {
  std::string text = kHeader + row({.first = "0.05"});
  text.replace(text.find("ttft_p50_ms"), 11, "ttft_p50_s");
  const auto points = parse_vllm_points(text, "points.csv");
  ASSERT_TRUE(points) << to_text(points.error());
  EXPECT_DOUBLE_EQ(points->points[0].first_s, 0.05);
  ASSERT_EQ(points->notes.size(), 1U);
  EXPECT_EQ(points->notes[0], "ttft_p50_s is read as its name says, not in ms");
}

TEST(VllmPoints, WhatIsLeftOutIsCounted) {
  std::string text = kHeader + row() + row();  // a copy
  for (int i = 0; i < 5; ++i) text += row({.server = fmt::format("like{}", i)});
  text += row({.server = "slow", .first_ms = 90000, .further_ms = 10});
  text += row({.server = "zero", .first = "0"});
  text += row({.server = "word", .first = "fast"});
  text += row({.server = "contradiction", .client = "20"});
  text += row({.server = "tokens", .prompt = "0"});
  text += row({.server = "degree", .degree = ""});
  text += row({.server = "tpu", .mode = "tpu"});
  text += row({.server = "blank", .first = " "});
  text += row({.server = "twice", .version = "0.9.2"}) + row({.server = "twice", .version = "0.22.1"});
  const auto points = parse_vllm_points(text, "p.csv");
  ASSERT_TRUE(points) << to_text(points.error());
  std::string all;
  for (const VllmPoints::Left& left : points->left_out) {
    all += fmt::format("{} {} {}\n", left.count, left.reason, left.example);
  }
  EXPECT_EQ(all,
            "1 an exact copy of another row p.csv:3\n"
            "2 a time that is no number above 0 p.csv:10\n"
            "1 ttft, itl and tpot contradict each other: tpot is (ttft + (outputs - 1) x itl) / outputs p.csv:12\n"
            "1 no number of tokens of prompt and output p.csv:13\n"
            "1 no tensor-parallel degree p.csv:14\n"
            "1 mode is neither gpu nor cpu p.csv:15\n"
            "1 ttft is over 1,000 times or below a thousandth of what like rows have p.csv:9\n"
            "1 an older version of vLLM, where a newer one measured the same p.csv:17\n");
  EXPECT_EQ(points->points.size(), 8U);
  EXPECT_EQ(single_streams(*points).size(), 7U);  // the blank one has no first token
}

TEST(VllmPoints, NoTable) {
  EXPECT_EQ(parse_vllm_points("vendor,server\n", "p.csv").error().code, "missing-column");
  EXPECT_EQ(parse_vllm_points(kHeader, "p.csv").error().code, "no-points");
  std::string text = kHeader + row();
  text.replace(text.find("itl_p50_ms"), 10, "itl_p50_min");
  const auto error = parse_vllm_points(text, "p.csv").error();
  EXPECT_EQ(error.message, "there is no column 'itl_p50_ms'");
  EXPECT_NE(error.expected.find("itl_p50_min"), std::string::npos);
}

TEST(VllmPoints, OfTheSharedTable) {
  const std::filesystem::path folder = std::filesystem::path(PERFCAST_SHARED_DATA) / "vllm_serving";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no folder vllm_serving in " << PERFCAST_SHARED_DATA;
  const auto points = read_vllm_points(folder.string());
  ASSERT_TRUE(points) << to_text(points.error());
  EXPECT_EQ(single_streams(*points).size(), 241U);
}

}  // namespace
}  // namespace perfcast::ai
