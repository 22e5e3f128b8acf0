#include "ai/audit/mlperf_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ai/audit/auditor.h"
#include "ai/latency/model/device_catalogue.h"
#include "base/file.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;

constexpr const char* kColumns =
    "version,division,submitter,platform,model,scenario,samples_per_s,tokens_per_s,mean_latency_ns,accelerator,"
    "accel_per_node,nodes,framework\n";

TEST(PublishedResults, BecomeClaims) {
  const auto results = parse_published_results(
      std::string(kColumns) +
          "v4.1,closed,A,p,llama2-70b-99,Server,80,23000,9e9,NVIDIA H100-SXM-80GB,8,2,TensorRT\n"
          "v4.1,open,A,p,resnet50,Offline,10,,1e9,N/A,0,1,X\n"
          "v3.0,closed,B,q,resnet50,SingleStream,2000,,500000,NVIDIA A100-SXM-80GB (1x1g.10gb MIG),1,1,X\n"
          "v3.0,closed,B,q,resnet50,MultiStream,,,900000,NVIDIA A2,1,1,X\n"
          "v3.0,closed,B,q,resnet50,Offline,,,,NVIDIA A2,1,1,X\n",
      "r.csv", "closed");
  ASSERT_TRUE(results) << to_text(results.error());
  ASSERT_EQ(results->claims.claims.size(), 3u);
  EXPECT_EQ(results->skipped, 1u);
  const Claim& server = results->claims.claims[0];
  EXPECT_EQ(server.device, "h100");
  EXPECT_EQ(server.devices, 16);
  EXPECT_EQ(server.find(ClaimMetric::kTokensPerS)->value, 23000);
  EXPECT_EQ(server.find(ClaimMetric::kLatency), nullptr);
  const Claim& single = results->claims.claims[1];
  EXPECT_EQ(single.device, "a100-sxm-80gb");
  EXPECT_EQ(single.concurrency, 1);
  EXPECT_DOUBLE_EQ(single.find(ClaimMetric::kLatency)->value, 5e-4);
  EXPECT_EQ(results->claims.claims[2].batch, 8);
}

TEST(PublishedResults, RefuseWhatIsNoTableOfThem) {
  EXPECT_EQ(parse_published_results("a,b\n1,2\n", "r.csv", "closed").error().code, "missing-column");
  EXPECT_EQ(parse_published_results(kColumns, "r.csv", "closed").error().code, "no-results");
  const auto bad =
      parse_published_results(std::string(kColumns) + "v,closed,A,p,m,Offline,fast,,,X,1,1,X\n", "r.csv", "closed");
  EXPECT_EQ(bad.error().code, "bad-number");
  const auto other =
      parse_published_results(std::string(kColumns) + "v,open,A,p,m,Offline,1,,,X,1,1,X\n", "r.csv", "closed");
  EXPECT_THAT(other.error().expected, HasSubstr("open"));
}

TEST(PublishedResults, OfTheClosedDivisionAreNotImpossible) {
  const std::string path = std::string(PERFCAST_SHARED_DATA) + "/mlperf_inference/mlperf_inference_results_logs.csv.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no published results at " << path;
  const auto text = read_file(path);
  ASSERT_TRUE(text) << to_text(text.error());
  const auto results = parse_published_results(*text, path, "closed");
  ASSERT_TRUE(results) << to_text(results.error());
  EXPECT_EQ(results->claims.claims.size() + results->skipped, 3280u);
  const auto devices = read_device_catalogue(PERFCAST_SOURCE_DIR "/data/devices/devices.json");
  const auto models = read_known_models(PERFCAST_SOURCE_DIR "/data/audit/models.json");
  ASSERT_TRUE(devices && models);
  size_t bounded = 0;
  const auto impossible = [&](const PublishedResults& all) {
    size_t count = 0;
    bounded = 0;
    for (const ClaimAudit& audit : audit_claims(all.claims, devices->devices, *models)) {
      if (audit.bound_checked) ++bounded;
      if (audit.verdict == AuditVerdict::kImpossible) ++count;
    }
    return count;
  };
  EXPECT_LE(100 * impossible(*results), bounded);
  EXPECT_GT(bounded, 1000u);
  // Nor is that because nothing ever is.
  PublishedResults inflated = *results;
  inflate(inflated, 30);
  EXPECT_GT(2 * impossible(inflated), bounded);
}

}  // namespace
}  // namespace perfcast::ai
