#include "scenario/size_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/testing/small_world.h"

namespace perfcast {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// A job of 100 s every 25 s: 4 cores are loaded to just 1.
JobStream steady(bool generated) {
  JobStream stream;
  stream.cluster = {{nodes("A", 9, 1)}, "EUR", "prices invented"};
  stream.cluster.groups[0].price_per_node_hour = 2;
  stream.source = "by hand";
  stream.generated = generated;
  stream.jobs = [](uint64_t) {
    WorkloadMaker maker({"A"});
    for (int i = 0; i < 200; ++i) maker.job(25.0 * i, 1, {100});
    maker.workload().notes = {"3 jobs were mended"};
    return Result<Workload>(maker.workload());
  };
  return stream;
}

SizeClusterRequest request_of(JobStream stream) {
  SizeClusterRequest request{std::move(stream), {}, 7, std::nullopt, std::nullopt};
  request.plan.objectives = {{ServiceMetric::kMeanWait, 10}};
  request.plan.growth = {};
  request.plan.errors = {};
  return request;
}

TEST(SizeCluster, PlansForTheStreamAndKeepsItsNotes) {
  const auto answer = size_cluster(request_of(steady(false)));
  ASSERT_TRUE(answer) << to_text(answer.error());
  EXPECT_TRUE(answer->meets);
  EXPECT_THAT(answer->plan.nodes, ElementsAre(5));
  EXPECT_EQ(answer->currency, "EUR");
  EXPECT_THAT(answer->notes, Contains("jobs: by hand"));
  EXPECT_THAT(answer->notes, Contains("cluster: prices invented"));
  EXPECT_THAT(answer->notes, Contains("3 jobs were mended"));
}

TEST(SizeCluster, SamplesMadeJobsThriceAndLimitsNodesWhereAsked) {
  SizeClusterRequest request = request_of(steady(true));
  request.plan.slack = request.plan.second_best = false;
  const auto sampled = size_cluster(request);
  ASSERT_TRUE(sampled);
  EXPECT_GE(sampled->simulations, 3);
  request.at_most = 3;
  const auto limited = size_cluster(request);
  ASSERT_TRUE(limited);
  EXPECT_FALSE(limited->meets);
  EXPECT_THAT(limited->plan.nodes, ElementsAre(3));
}

TEST(SizeCluster, SaysThatErrorsChangeNothingWhereNoForecastIsUsed) {
  SizeClusterRequest request = request_of(steady(false));
  request.plan.policy = Policy::kFcfs;
  request.plan.errors = {0.5};
  const auto answer = size_cluster(request);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->sensitivity.empty());
  EXPECT_THAT(answer->notes, Contains(HasSubstr("fcfs knows no forecast")));
}

}  // namespace
}  // namespace perfcast
