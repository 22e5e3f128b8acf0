#include "ai/results/inference_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "base/file.h"

namespace perfcast::ai {
namespace {

TEST(InferenceResults, ComeFromATable) {
  const auto results = parse_inference_results(
      "version,division,submitter,platform,model,scenario,valid,samples_per_s,tokens_per_s,mean_latency_ns,"
      "p90_latency_ns,p99_latency_ns,avg_power_w,accelerator,accel_per_node,nodes,framework,host_cpu,"
      "host_cpus_per_node\n"
      "v4.1,closed,A,p,llama2-70b-99,Server,VALID,80,23000,9e9,,,5000.5,NVIDIA H100-SXM-80GB,8,2,TensorRT,EPYC,2\n"
      "v3.0,open,B,q,resnet50,MultiStream,INVALID,0,,900000,,1000000,,N/A,\"(8,4)\",,X,Xeon,\n",
      "r.csv");
  ASSERT_TRUE(results) << to_text(results.error());
  ASSERT_EQ(results->size(), 2u);
  const PublishedResult& server = (*results)[0];
  EXPECT_EQ(server.accelerators(), 16);
  EXPECT_EQ(server.samples_per_s, 80);
  EXPECT_EQ(server.tokens_per_s, 23000);
  EXPECT_DOUBLE_EQ(server.mean_latency_s, 9);
  EXPECT_TRUE(std::isnan(server.p90_latency_s));
  EXPECT_EQ(server.power_w, 5000.5);
  EXPECT_EQ(server.host_cpus_per_node, 2);
  EXPECT_TRUE(server.valid);
  EXPECT_EQ(server.line, 2u);
  const PublishedResult& other = (*results)[1];
  EXPECT_FALSE(other.valid);
  EXPECT_FALSE(other.has_accelerator());
  EXPECT_TRUE(std::isnan(other.samples_per_s));  // 0 is missing
  EXPECT_FALSE(other.accelerators_per_node);
  EXPECT_FALSE(other.nodes);
  EXPECT_TRUE(std::isnan(other.power_w));
  EXPECT_DOUBLE_EQ(other.p99_latency_s, 1e-3);
}

TEST(InferenceResults, RefuseOtherTables) {
  EXPECT_EQ(parse_inference_results("a,b\n1,2\n", "r.csv").error().code, "missing-column");
  const auto bad = parse_inference_results(
      "version,division,submitter,platform,model,scenario,samples_per_s,tokens_per_s,mean_latency_ns,accelerator,"
      "accel_per_node,nodes,framework\nv,closed,A,p,m,Offline,fast,,,X,1,1,X\n",
      "r.csv");
  EXPECT_EQ(bad.error().code, "bad-number");
  EXPECT_THAT(bad.error().where, testing::HasSubstr("r.csv:2"));
}

TEST(InferenceResults, AreThoseOfThePublicSet) {
  const std::string path = std::string(PERFCAST_SHARED_DATA) + "/mlperf_inference/mlperf_inference_results_logs.csv.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no published results at " << path;
  const auto text = read_file(path);
  ASSERT_TRUE(text) << to_text(text.error());
  const auto results = parse_inference_results(*text, path);
  ASSERT_TRUE(results) << to_text(results.error());
  std::map<std::string, size_t> divisions;
  size_t with_power = 0;
  for (const PublishedResult& result : *results) {
    ++divisions[result.division];
    if (!std::isnan(result.power_w)) ++with_power;
    if (result.division == "open") continue;
    EXPECT_GT(result_rate_per_s(result), 0) << result.line;
  }
  EXPECT_GE(divisions["closed"], 3000u);
  EXPECT_GE(divisions["open"], 10000u);
  EXPECT_GE(with_power, 4900u);
}

}  // namespace
}  // namespace perfcast::ai
