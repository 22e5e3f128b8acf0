#include "fleet/plan/size_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/testing/small_world.h"

namespace perfcast::fleet {
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

TEST(SizeCluster, DrawsMadeJobsTenTimesAndLimitsNodesWhereAsked) {
  SizeClusterRequest request = request_of(steady(true));
  request.plan.slack = request.plan.second_best = false;
  const auto sampled = size_cluster(request);
  ASSERT_TRUE(sampled);
  EXPECT_EQ(sampled->plan.draws, 10U);
  EXPECT_EQ(sampled->fresh_draws, 100U);
  EXPECT_EQ(sampled->fresh_held, 100U);
  request.at_most = 3;
  const auto limited = size_cluster(request);
  ASSERT_TRUE(limited);
  EXPECT_FALSE(limited->meets);
  EXPECT_THAT(limited->plan.nodes, ElementsAre(3));
}

TEST(SizeCluster, SaysWhereTheStreamIsTooShortForTheWait) {
  SizeClusterRequest request = request_of(steady(false));  // 4975 s
  request.plan.objectives = {{ServiceMetric::kMeanWait, 900}};
  EXPECT_THAT(size_cluster(request)->notes, testing::Not(Contains(HasSubstr("too short a time"))));
  request.plan.objectives = {{ServiceMetric::kMeanWait, 1000}};
  EXPECT_THAT(size_cluster(request)->notes, Contains(HasSubstr("the 200 jobs come within")));
}

// Of ten worlds one has programs twice as slow: the plan is for the nine others. Of two such worlds it takes one in.
TEST(SizeCluster, PlansForNineOfTenForecastWorlds) {
  JobStream stream = steady(true);
  stream.forecast = true;
  bool both = false;
  stream.jobs = [&both, steadily = stream.jobs](uint64_t seed) {
    auto workload = steadily(seed);
    if (workload && (seed == 9 || (both && seed == 8))) {
      for (double& time_s : workload->time_s) time_s *= 2;
    }
    return workload;
  };
  SizeClusterRequest request = request_of(stream);
  request.plan.slack = request.plan.second_best = false;
  const auto answer = size_cluster(request);
  ASSERT_TRUE(answer) << to_text(answer.error());
  EXPECT_TRUE(answer->meets);
  EXPECT_THAT(answer->notes, Contains(HasSubstr("in 1 of 10 samples the plan can't carry the load")));
  EXPECT_THAT(answer->plan.nodes, ElementsAre(5));
  EXPECT_EQ(answer->plan.draws_held, 9U);
  EXPECT_EQ(answer->fresh_held, 100U);
  both = true;
  const auto larger = size_cluster(request);
  ASSERT_TRUE(larger) << to_text(larger.error());
  EXPECT_THAT(larger->plan.nodes, ElementsAre(8));  // they carry just that
  EXPECT_EQ(larger->plan.draws_held, 10U);
}

TEST(SizeCluster, TakesTheFewestNodesWherePricesAreMissing) {
  SizeClusterRequest request = request_of(steady(false));
  request.stream.cluster.groups[0].price_per_node_hour = kUnknown;
  EXPECT_EQ(size_cluster(request).error().code, "no-price");
  request.goal_is_given = false;
  const auto answer = size_cluster(request);
  ASSERT_TRUE(answer) << to_text(answer.error());
  EXPECT_EQ(answer->goal, CapacityGoal::kNodes);
  EXPECT_THAT(answer->plan.nodes, ElementsAre(5));
  EXPECT_THAT(answer->notes, Contains("the plan has the fewest nodes: the price of A is not known"));
  request.plan.budget_per_hour = 3;
  EXPECT_EQ(size_cluster(request).error().code, "no-price");
}

// Jobs of 100 s on A and 50 s on B, `every_s` one.
JobStream two_kinds(double every_s) {
  JobStream stream;
  stream.cluster = {{nodes("A", 9, 2), nodes("B", 4, 2)}, "EUR", ""};
  stream.cluster.groups[0].price_per_node_hour = 1;
  stream.cluster.groups[1].price_per_node_hour = 2.5;
  stream.jobs = [every_s](uint64_t) {
    WorkloadMaker maker({"A", "B"});
    for (int i = 0; i < 200; ++i) maker.job(every_s * i, 1, {100, 50});
    return Result<Workload>(maker.workload());
  };
  return stream;
}

// Under mct jobs wait for B on purpose, and all nodes are needed: none of its plans keeps the mean wait.
TEST(SizeCluster, TakesThePolicyWhosePlanHolds) {
  SizeClusterRequest request = request_of(two_kinds(3.125));
  const auto given = size_cluster(request);
  ASSERT_TRUE(given) << to_text(given.error());
  EXPECT_FALSE(given->meets);
  EXPECT_THAT(given->policies, testing::IsEmpty());
  request.policy_is_given = false;
  const auto chosen = size_cluster(request);
  ASSERT_TRUE(chosen) << to_text(chosen.error());
  ASSERT_EQ(chosen->policies.size(), 3U);
  EXPECT_EQ(chosen->policies[0].policy, Policy::kMinimumCompletion);
  EXPECT_EQ(chosen->policies[0].meets, given->meets);
  EXPECT_TRUE(chosen->meets);
  EXPECT_NE(chosen->policy, Policy::kMinimumCompletion);
  for (const PolicyTried& one : chosen->policies) {
    EXPECT_TRUE(!one.meets || chosen->plan.value <= one.value * (1 + 1e-9)) << info(one.policy).name;
  }
  EXPECT_THAT(chosen->notes, testing::Not(Contains(HasSubstr("try --policy"))));
}

// Where the plan costs what the lower bound says, no other policy is tried.
TEST(SizeCluster, TriesNoOtherPolicyAtTheLowerBound) {
  SizeClusterRequest request = request_of(two_kinds(12.5));
  request.policy_is_given = false;
  const auto answer = size_cluster(request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->policy, Policy::kMinimumCompletion);
  EXPECT_TRUE(answer->policies.empty());
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
}  // namespace perfcast::fleet
