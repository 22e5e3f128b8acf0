#include "ai/results/training_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"

namespace perfcast::ai {
namespace {

TEST(TrainingResults, AreScoredFromTheirRuns) {
  const auto results = parse_training_results(
      "version,submitter,platform,benchmark,run,time_to_train_min,status,accelerator,accels_per_node,nodes,division\n"
      "v5.0,A,p,bert,0,10,success,NVIDIA H100-SXM5-80GB,8,2,closed\n"
      "v5.0,A,p,bert,1,4,success,NVIDIA H100-SXM5-80GB,8,2,closed\n"
      "v5.0,A,p,bert,2,5,success,NVIDIA H100-SXM5-80GB,8,2,closed\n"
      "v5.0,B,q,bert,0,7,success,X,1,1,closed\n"
      "v5.0,B,q,bert,1,,aborted,X,1,1,closed\n",
      "t.csv");
  ASSERT_TRUE(results) << to_text(results.error());
  ASSERT_EQ(results->results.size(), 1u);
  const PublishedResult& bert = results->results.front();
  EXPECT_EQ(bert.training_s, 300);  // the middle one of three
  EXPECT_EQ(bert.runs, 3);
  EXPECT_EQ(bert.accelerators(), 16);
  EXPECT_EQ(bert.scenario, "Training");
  EXPECT_EQ(results->runs, 5u);
  EXPECT_EQ(results->unfinished_runs, 1u);
  EXPECT_EQ(results->without_score, 1u);
}

TEST(TrainingResults, RefuseOtherTables) {
  EXPECT_EQ(parse_training_results("a,b\n1,2\n", "t.csv").error().code, "missing-column");
}

TEST(TrainingResults, AreThoseOfThePublicSet) {
  const std::string path = std::string(PERFCAST_SHARED_DATA) + "/mlperf_training/mlperf_training_v5.0.csv.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no published results at " << path;
  const auto text = read_file(path);
  ASSERT_TRUE(text) << to_text(text.error());
  const auto results = parse_training_results(*text, path);
  ASSERT_TRUE(results) << to_text(results.error());
  EXPECT_GE(results->results.size(), 190u);
  EXPECT_GE(results->runs, 1700u);
}

}  // namespace
}  // namespace perfcast::ai
