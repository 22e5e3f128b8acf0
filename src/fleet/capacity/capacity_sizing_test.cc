#include "fleet/capacity/capacity_sizing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fleet/testing/small_world.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;

NodeGroup sized_candidate(const std::string& platform, int64_t cores, double price, int64_t most = kAnyNumber) {
  NodeGroup group = nodes(platform, most, cores);
  group.price_per_node_hour = price;
  return group;
}

CapacitySizing sizing_of(const Workload& workload, std::vector<NodeGroup> candidates, double arrivals_per_s,
                         double budget = kUnknown) {
  SizingInput input;
  input.candidates = std::move(candidates);
  for (const NodeGroup& group : input.candidates) input.weight.push_back(group.price_per_node_hour);
  input.arrivals_per_s = arrivals_per_s;
  input.budget_per_hour = budget;
  const Workload* samples[] = {&workload};
  const std::vector<double> times[] = {candidate_times(workload, input.candidates)};
  add_kinds(samples, times, input);
  return CapacitySizing(input);
}

// A program that is 4 times as fast on A, and one that is as fast on both.
Workload two_kinds() {
  WorkloadMaker maker({"A", "B"});
  maker.job(0, 1, {10, 40});
  maker.job(1, 1, {10, 10});
  return maker.workload();
}

TEST(CapacitySizing, EachKindGoesWhereItIsCheapest) {
  // 1 job/s, half of each: 5 cores of A and 5 of B; A costs twice as much a node.
  CapacitySizing sizing = sizing_of(two_kinds(), {sized_candidate("A", 1, 2), sized_candidate("B", 1, 1)}, 1);
  const auto plan = sizing.cheapest(1, 1);
  ASSERT_TRUE(plan) << to_text(plan.error());
  EXPECT_THAT(plan->nodes, ElementsAre(5, 5));
  EXPECT_NEAR(plan->value, 15, 1e-9);
  EXPECT_NEAR(sizing.load({5, 5}), 1, 1e-9);
  EXPECT_NEAR(sizing.load({10, 10}), 0.5, 1e-9);
  EXPECT_NEAR(sizing.load({10, 0}), 1, 1e-9);
  EXPECT_TRUE(std::isinf(sizing.load({0, 0})));
}

TEST(CapacitySizing, RhoAndGrowthScaleTheNeed) {
  CapacitySizing sizing = sizing_of(two_kinds(), {sized_candidate("A", 1, 2), sized_candidate("B", 1, 1)}, 1);
  EXPECT_THAT(sizing.cheapest(0.5, 1)->nodes, ElementsAre(10, 10));
  EXPECT_THAT(sizing.cheapest(1, 2)->nodes, ElementsAre(10, 10));
  EXPECT_THAT(sizing.cheapest(1, 0.9)->nodes, ElementsAre(5, 4));  // 4.5 and 4.5: half a core of B's goes to A
}

TEST(CapacitySizing, LimitsAndBudget) {
  CapacitySizing few = sizing_of(two_kinds(), {sized_candidate("A", 1, 2, 3), sized_candidate("B", 1, 1)}, 1);
  EXPECT_THAT(few.cheapest(1, 1)->nodes, ElementsAre(3, 13));  // 2 cores of the first kind's work take 8 of B
  CapacitySizing poor = sizing_of(two_kinds(), {sized_candidate("A", 1, 2), sized_candidate("B", 1, 1)}, 1, 14);
  EXPECT_EQ(poor.cheapest(1, 1).error().code, "infeasible");
  const auto strongest = poor.strongest();
  ASSERT_TRUE(strongest) << to_text(strongest.error());
  EXPECT_LE(2 * strongest->nodes[0] + strongest->nodes[1], 14);
  EXPECT_NEAR(
      sizing_of(two_kinds(), {sized_candidate("A", 1, 2), sized_candidate("B", 1, 1)}, 1).load(strongest->nodes),
      1 / strongest->value, 1e-9);
}

TEST(CapacitySizing, JobsThatShareNoNodeNeedOneEach) {
  // 5 of 8 cores: one to a node, whatever the sum of cores says (10 x 5 / 8 = 6.25).
  WorkloadMaker maker({"A"});
  maker.job(0, 5, {10});
  EXPECT_THAT(sizing_of(maker.workload(), {sized_candidate("A", 8, 1)}, 1).cheapest(1, 1)->nodes, ElementsAre(10));
  // 3 of 8: two to a node.
  WorkloadMaker smaller({"A"});
  smaller.job(0, 3, {10});
  EXPECT_THAT(sizing_of(smaller.workload(), {sized_candidate("A", 8, 1)}, 1).cheapest(1, 1)->nodes, ElementsAre(5));
  // Memory likewise.
  WorkloadMaker heavy({"A"});
  heavy.job(0, 1, {10}).memory_bytes = 60;
  NodeGroup node = sized_candidate("A", 8, 1);
  node.memory_bytes_per_node = 100;
  EXPECT_THAT(sizing_of(heavy.workload(), {node}, 1).cheapest(1, 1)->nodes, ElementsAre(10));
}

TEST(CapacitySizing, FiveAndThreeFillANode) {
  WorkloadMaker maker({"A"});
  maker.job(0, 5, {10});
  maker.job(1, 3, {10});
  EXPECT_THAT(sizing_of(maker.workload(), {sized_candidate("A", 8, 1)}, 2).cheapest(1, 1)->nodes, ElementsAre(10));
}

TEST(CapacitySizing, TheWidestJobFindsItsNodes) {
  WorkloadMaker maker({"A", "B"});
  maker.job(0, 12, {1, 1}).spread = true;
  CapacitySizing sizing =
      sizing_of(maker.workload(), {sized_candidate("A", 4, 1), sized_candidate("B", 6, 1.4)}, 0.001);
  EXPECT_THAT(sizing.cheapest(1, 1)->nodes, ElementsAre(0, 2));
  EXPECT_EQ(nodes_for_job(sized_candidate("A", 4, 1), maker.workload().jobs[0]), 3);
}

TEST(CapacitySizing, TimesEndAtTheLimitAndWhereAJobDoesNotFit) {
  WorkloadMaker maker({"B", "A"});
  maker.job(0, 2, {30, 20}).limit_s = 25;
  maker.job(0, 8, {30, 20});
  maker.job(0, 1, {kUnknown, 20});
  const NodeGroup candidates[] = {sized_candidate("A", 4, 1), sized_candidate("B", 8, 1)};
  const auto times = candidate_times(maker.workload(), candidates);
  EXPECT_THAT(times, ElementsAre(20, 25, testing::IsNan(), 30, 20, testing::IsNan()));
}

// Merging kinds of nearly the same ratios must leave a bound: no larger than that of each job on its own.
TEST(CapacitySizing, ManyRatiosStillGiveABound) {
  Random random(7);
  WorkloadMaker maker({"A", "B"});
  for (int i = 0; i < 2000; ++i) {
    const double time_s = random.uniform(1, 100);
    maker.job(i, 1 + static_cast<int32_t>(random.below(4)), {time_s, time_s * std::exp(random.normal())});
  }
  CapacitySizing sizing = sizing_of(maker.workload(), {sized_candidate("A", 4, 1), sized_candidate("B", 4, 1)}, 1);
  EXPECT_LE(sizing.input().kinds.size(), 150U);
  double fastest = 0;  // core-seconds a second where every job has its best platform
  for (size_t i = 0; i < 2000; ++i) {
    const auto times = maker.workload().times(i);
    fastest += std::min(times[0], times[1]) * maker.workload().jobs[i].cores / 2000;
  }
  const auto plan = sizing.cheapest(1, 1);
  ASSERT_TRUE(plan) << to_text(plan.error());
  EXPECT_GE(plan->value, 0.85 * fastest / 4);
  // What the best platforms need, rounded up for each, carries the load.
  EXPECT_LE(plan->value, fastest / 4 + 2);
}

}  // namespace
}  // namespace perfcast::fleet
