#include "fleet/capacity/capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <ostream>

#include "fleet/capacity/capacity_maximal.h"
#include "fleet/simulate/queueing.h"
#include "fleet/simulate/simulator.h"
#include "fleet/testing/poisson_demand.h"
#include "fleet/testing/small_world.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

NodeGroup candidate(const std::string& platform, int64_t cores, double price, int64_t most = kAnyNumber) {
  NodeGroup group = nodes(platform, most, cores);
  group.price_per_node_hour = price;
  group.idle_w_per_node = 50;
  group.busy_w_per_node = 150;
  return group;
}

CapacityRequest request_of(std::vector<NodeGroup> candidates, const std::vector<DemandKind>& kinds, int jobs,
                           double rate_per_s, std::vector<ServiceObjective> objectives) {
  CapacityRequest request;
  std::vector<std::string> platforms;
  platforms.reserve(candidates.size());
  for (const NodeGroup& group : candidates) platforms.push_back(group.platform);
  request.candidates = std::move(candidates);
  request.demand = poisson_demand(platforms, kinds, jobs, rate_per_s);
  request.arrivals_per_s = rate_per_s;
  request.objectives = std::move(objectives);
  request.growth.clear();
  request.slack = request.second_best = false;
  return request;
}

CapacityAnswer answer_of(const CapacityRequest& request) {
  auto answer = plan_capacity(request);
  if (!answer) {
    ADD_FAILURE() << to_text(answer.error());
    return {};
  }
  return *answer;
}

std::string error_of(const CapacityRequest& request) {
  const auto answer = plan_capacity(request);
  return answer ? "no error" : answer.error().code;
}

struct MmcCase {
  ServiceMetric metric;
  double target;
  double erlangs;
};
void PrintTo(const MmcCase& mmc, std::ostream* out) {
  *out << info(mmc.metric).name << " <= " << mmc.target << " at " << mmc.erlangs << " Erlangs";
}
class CapacityOfMmc : public testing::TestWithParam<MmcCase> {};

// Jobs of 10 s on the average on nodes of one core: the answer is the smallest c of M/M/c, within one node.
TEST_P(CapacityOfMmc, IsTheSmallestNumberOfServersThatMeets) {
  const auto [metric, target, erlangs] = GetParam();
  const double rate = erlangs / 10;
  auto request = request_of({candidate("A", 1, 1)}, {{1, {10}}}, 30000, rate, {{metric, target}});
  const CapacityAnswer answer = answer_of(request);
  int64_t servers = static_cast<int64_t>(std::floor(erlangs)) + 1;
  while ((metric == ServiceMetric::kP99Wait ? wait_quantile_mmc_s(servers, rate, 10, 0.99)
                                            : mean_wait_mmc_s(servers, rate, 10)) > target) {
    ++servers;
  }
  EXPECT_TRUE(answer.meets);
  EXPECT_TRUE(answer.complete);
  EXPECT_NEAR(static_cast<double>(answer.plan.nodes.at(0)), static_cast<double>(servers), 1);
  EXPECT_LE(answer.lower_bound, answer.plan.value);
  EXPECT_NEAR(answer.lower_bound, std::ceil(erlangs), 1);  // by the sampled times
  EXPECT_DOUBLE_EQ(answer.plan.cost_per_hour, static_cast<double>(answer.plan.nodes[0]));
  // Little's law: erlangs / c of the cores are busy; 50 W idle each and 100 W more of each busy one.
  EXPECT_NEAR(answer.plan.utilisation.at(0), erlangs / static_cast<double>(answer.plan.nodes[0]), 0.03);
  EXPECT_NEAR(answer.plan.average_power_w, 50 * static_cast<double>(answer.plan.nodes[0]) + 100 * erlangs,
              0.03 * answer.plan.average_power_w);
}

INSTANTIATE_TEST_SUITE_P(
    Objectives, CapacityOfMmc,
    testing::Values(MmcCase{ServiceMetric::kP99Wait, 20, 3.5}, MmcCase{ServiceMetric::kP99Wait, 2, 3.5},
                    MmcCase{ServiceMetric::kP99Wait, 5, 20}, MmcCase{ServiceMetric::kMeanWait, 5, 6},
                    MmcCase{ServiceMetric::kMeanWait, 0.1, 6}, MmcCase{ServiceMetric::kMeanWait, 1, 40}));

TEST(Capacity, TheTighterOfTwoObjectivesDecides) {
  const ServiceObjective lax{ServiceMetric::kMeanWait, 20}, tight{ServiceMetric::kP99Wait, 2};
  const auto nodes_for = [&](std::vector<ServiceObjective> objectives) {
    return answer_of(request_of({candidate("A", 1, 1)}, {{1, {10}}}, 10000, 0.5, std::move(objectives)))
        .plan.nodes.at(0);
  };
  EXPECT_GT(nodes_for({tight}), nodes_for({lax}));
  EXPECT_EQ(nodes_for({lax, tight}), nodes_for({tight}));
}

TEST(Capacity, TakesThePlatformThatIsCheaperForTheWork) {
  // B is half as fast at a quarter of the price.
  auto request = request_of({candidate("A", 4, 4), candidate("B", 4, 1)}, {{1, {10, 20}}}, 5000, 1,
                            {{ServiceMetric::kMeanWait, 10}});
  request.second_best = true;
  const CapacityAnswer answer = answer_of(request);
  EXPECT_TRUE(answer.meets);
  EXPECT_EQ(answer.plan.nodes.at(0), 0);
  EXPECT_GE(answer.plan.nodes.at(1), 5);
  EXPECT_LE(answer.plan.nodes.at(1), 7);
  ASSERT_TRUE(answer.second_best);
  EXPECT_GT(answer.second_best->nodes[0], 0);
  EXPECT_TRUE(answer.second_best->meets);
  EXPECT_GE(answer.second_best->value, answer.plan.value);
}

TEST(Capacity, MoreNodesMayMakeWaitsLonger) {
  // mct lets jobs wait up to 20 s for the fast node: no plan with it keeps the mean wait under a second, six slow ones
  // do.
  std::vector<NodeGroup> candidates = {candidate("fast", 1, 1), candidate("slow", 1, 1)};
  candidates[0].nodes = 1;
  candidates[1].nodes = 6;
  const auto request = request_of(candidates, {{1, {10, 30}}}, 3000, 0.08, {{ServiceMetric::kMeanWait, 1}});
  const CapacityAnswer answer = answer_of(request);
  EXPECT_TRUE(answer.meets);
  EXPECT_EQ(answer.plan.nodes.at(0), 0);
  EXPECT_TRUE(answer.plan.service.at(0).meets);
}

TEST(Capacity, MemoryKeepsAPlatformOut) {
  std::vector<NodeGroup> candidates = {candidate("cheap", 4, 0.1), candidate("large", 4, 1)};
  candidates[0].memory_bytes_per_node = 10;
  candidates[1].memory_bytes_per_node = 100;
  std::vector<DemandKind> kinds = {{1, {10, 10}}};
  kinds[0].memory_bytes = 20;
  auto request = request_of(candidates, kinds, 3000, 1, {{ServiceMetric::kMeanWait, 10}});
  const CapacityAnswer answer = answer_of(request);
  EXPECT_TRUE(answer.meets);
  EXPECT_EQ(answer.plan.nodes.at(0), 0);
  EXPECT_GE(answer.plan.nodes.at(1), 3);
  EXPECT_LE(answer.plan.nodes.at(1), 4);
}

TEST(Capacity, GpuJobsGoWhereThereAreGpus) {
  std::vector<NodeGroup> candidates = {candidate("cpu", 16, 0.1), candidate("gpu", 16, 2)};
  candidates[1].gpus_per_node = 4;
  std::vector<DemandKind> kinds = {{1, {20, 20}}, {1, {kUnknown, 20}}};
  kinds[1].gpus = 1;
  const CapacityAnswer answer =
      answer_of(request_of(candidates, kinds, 5000, 1, {{ServiceMetric::kMeanWait, 5}}));  // 10 GPUs, 10 cores
  EXPECT_TRUE(answer.meets);
  EXPECT_GE(answer.plan.nodes.at(1), 3);
  EXPECT_LE(answer.plan.nodes.at(1), 4);
  EXPECT_NEAR(answer.plan.utilisation.at(1), 10 / (4.0 * static_cast<double>(answer.plan.nodes.at(1))), 0.05);
}

TEST(Capacity, DeadlinesAskForTheFastPlatform) {
  // One job of ten must be done in 12 s and takes 10 s on the dear platform, 40 s on the cheap one.
  std::vector<DemandKind> kinds = {{9, {20, 40}}, {1, {10, 40}}};
  kinds[0].fixed_length = kinds[1].fixed_length = true;
  kinds[1].deadline_s = 12;
  auto request = request_of({candidate("fast", 1, 10), candidate("slow", 1, 1)}, kinds, 3000, 0.5,
                            {{ServiceMetric::kDeadlineShare, 0.9}});
  const CapacityAnswer answer = answer_of(request);
  EXPECT_TRUE(answer.meets);
  EXPECT_GT(answer.plan.nodes.at(0), 0);
  EXPECT_GE(answer.plan.service.at(0).median, 0.9);
}

TEST(Capacity, ABudgetThatIsTooSmall) {
  auto request = request_of({candidate("A", 1, 1)}, {{1, {10}}}, 3000, 1, {{ServiceMetric::kMeanWait, 0.1}});
  request.slack = true;
  request.budget_per_hour = 12;  // carries the 10 Erlangs, but not so well
  CapacityAnswer answer = answer_of(request);
  EXPECT_FALSE(answer.meets);
  EXPECT_THAT(answer.plan.nodes, ElementsAre(12));
  EXPECT_FALSE(answer.plan.meets);
  EXPECT_GT(answer.plan.service.at(0).median, 0.1);
  EXPECT_LT(answer.plan.service.at(0).slack, 0);
  EXPECT_LT(answer.plan.service.at(0).rate_limit, 1);
  EXPECT_GT(answer.plan.service.at(0).rate_limit, 0.3);
  EXPECT_THAT(answer.notes, testing::Contains(HasSubstr("comes nearest")));

  request.budget_per_hour = 7;
  request.growth = {1};
  answer = answer_of(request);
  EXPECT_FALSE(answer.meets);
  EXPECT_THAT(answer.plan.nodes, ElementsAre(7));
  EXPECT_GT(answer.plan.fluid_load, 1.3);
  EXPECT_THAT(answer.notes, testing::Contains(HasSubstr("grow without end")));
  ASSERT_TRUE(answer.growth.at(0).plan);  // what it would take
  EXPECT_GT(answer.growth[0].plan->nodes.at(0), 12);
  EXPECT_FALSE(answer.growth[0].within_budget);

  request.budget_per_hour = 0.5;
  EXPECT_EQ(error_of(request), "budget-too-small");
  const auto impossible = plan_capacity(request);
  ASSERT_FALSE(impossible);
  EXPECT_THAT(impossible.error().expected,
              testing::MatchesRegex(".*without limits 1[0-9] x A would meet, 1.\\.00.* an hour"));
}

// What it would take is no dearer than the plan of the same request without a cost limit.
TEST(Capacity, WithoutLimitsIsTheCheapest) {
  const std::vector<DemandKind> kinds = {{5, {60, 75}}, {4, {24, 25}}, {1, {240, 360}}};
  for (const double limit : {0.3, 0.6, 0.9}) {
    auto request = request_of({candidate("amd", 4, 0.8, 20), candidate("arm", 4, 0.58, 20)}, kinds, 2000, 0.3,
                              {{ServiceMetric::kP99Wait, 20}});
    const CapacityAnswer free = answer_of(request);
    ASSERT_TRUE(free.meets);
    request.budget_per_hour = limit * free.plan.value;
    const CapacityAnswer limited = answer_of(request);
    EXPECT_FALSE(limited.meets) << limit;
    ASSERT_TRUE(limited.would_meet) << limit;
    EXPECT_LE(limited.would_meet->value, free.plan.value) << limit;
    EXPECT_GT(limited.would_meet->value, request.budget_per_hour) << limit;
  }
}

TEST(Capacity, TooFewNodesToBeHad) {
  auto request = request_of({candidate("A", 1, 1, 11)}, {{1, {10}}}, 3000, 1, {{ServiceMetric::kMeanWait, 0.1}});
  const CapacityAnswer answer = answer_of(request);
  EXPECT_FALSE(answer.meets);
  EXPECT_THAT(answer.plan.nodes, ElementsAre(11));
}

TEST(Capacity, SlackIsWhereTheObjectiveBreaks) {
  auto request = request_of({candidate("A", 1, 1)}, {{1, {10}}}, 20000, 1, {{ServiceMetric::kMeanWait, 5}});
  request.slack = true;
  const CapacityAnswer answer = answer_of(request);
  const ServiceResult& service = answer.plan.service.at(0);
  EXPECT_GE(service.rate_limit, 1);
  EXPECT_FALSE(service.rate_limit_is_floor);
  const int64_t servers = answer.plan.nodes.at(0);
  double rate = 1;
  while (mean_wait_mmc_s(servers, rate, 10) < 5) rate += 0.001;
  EXPECT_NEAR(service.rate_limit, rate, 0.05);
  EXPECT_NEAR(service.slack, (5 - service.kept) / 5, 1e-12);
  EXPECT_EQ(service.kept, service.high);  // of three seeds nine in ten are all
}

TEST(Capacity, ForecastErrorsCostService) {
  auto request = request_of({candidate("A", 1, 1), candidate("B", 1, 0.6)}, {{1, {5, 30}}, {1, {30, 10}}}, 5000, 1,
                            {{ServiceMetric::kMeanWait, 5}});
  request.perturb = [](Workload& workload, double error_ratio, uint64_t seed) {
    Random random(seed);
    for (size_t i = 0; i < workload.time_s.size(); ++i) {
      workload.forecast_s[i] = (workload.time_s[i] + 1e-6) * std::exp(error_ratio * 3 * random.normal());
    }
    return Status();
  };
  const CapacityAnswer answer = answer_of(request);
  ASSERT_EQ(answer.sensitivity.size(), 5U);
  EXPECT_TRUE(answer.sensitivity[0].meets);
  EXPECT_NEAR(answer.sensitivity[0].service.at(0).median, answer.plan.service.at(0).median, 0.05);
  EXPECT_FALSE(answer.sensitivity[4].meets);
  EXPECT_GT(answer.sensitivity[4].service.at(0).median, answer.sensitivity[0].service.at(0).median);
}

TEST(Capacity, PowerAndNodesAsGoals) {
  std::vector<NodeGroup> candidates = {candidate("A", 8, kUnknown), candidate("B", 2, kUnknown)};
  candidates[0].idle_w_per_node = 400;
  candidates[0].busy_w_per_node = 800;
  candidates[1].idle_w_per_node = 10;
  candidates[1].busy_w_per_node = 40;
  auto request = request_of(candidates, {{1, {10, 10}}}, 5000, 1, {{ServiceMetric::kMeanWait, 5}});
  EXPECT_EQ(error_of(request), "no-price");
  request.goal = CapacityGoal::kNodes;
  CapacityAnswer answer = answer_of(request);
  EXPECT_EQ(answer.plan.node_count, 2);
  EXPECT_TRUE(std::isnan(answer.plan.cost_per_hour));
  request.goal = CapacityGoal::kPower;
  answer = answer_of(request);
  EXPECT_EQ(answer.plan.nodes.at(0), 0);
  EXPECT_GE(answer.plan.nodes.at(1), 5);
  EXPECT_LE(answer.lower_bound, answer.plan.value * 1.02);
  EXPECT_NEAR(answer.lower_bound, 6 * 10 + 10 * 15, 15);  // 10 Erlangs: five nodes or six by the sampled times
}

TEST(Capacity, GrowthNeverCostsLess) {
  auto request = request_of({candidate("A", 4, 4), candidate("B", 2, 1.7)}, {{1, {10, 15}}, {1, {4, 20}, 2}}, 4000, 1,
                            {{ServiceMetric::kP99Wait, 10}});
  request.growth = {1, 1.25, 1.5, 2, 3};
  const CapacityAnswer answer = answer_of(request);
  double last = 0;
  for (const GrowthRow& row : answer.growth) {
    ASSERT_TRUE(row.plan);
    EXPECT_GE(row.plan->value, row.lower_bound - 1e-6);
    EXPECT_GE(row.plan->value, last) << row.rate_factor;
    last = row.plan->value;
  }
  EXPECT_DOUBLE_EQ(answer.growth.front().plan->value, answer.plan.value);
}

TEST(Capacity, ATighterObjectiveNeverCostsLess) {
  double last = 0;
  for (const double target_s : {60.0, 20.0, 5.0, 1.0, 0.2}) {
    const CapacityAnswer answer =
        answer_of(request_of({candidate("A", 4, 4), candidate("B", 2, 1.7)}, {{1, {10, 15}}, {1, {4, 20}, 2}}, 4000, 1,
                             {{ServiceMetric::kP99Wait, target_s}}));
    EXPECT_TRUE(answer.meets);
    EXPECT_GE(answer.plan.value, last) << target_s;
    last = answer.plan.value;
  }
}

TEST(Capacity, HoldsUnderFreshSeeds) {
  auto request = request_of({candidate("A", 4, 4), candidate("B", 2, 1.7)}, {{1, {10, 15}}, {1, {4, 20}, 2}}, 20000, 1,
                            {{ServiceMetric::kMeanWait, 2}});
  request.seeds = {1, 2, 3, 4, 5};
  request.rule = SeedRule::kAll;
  const CapacityAnswer answer = answer_of(request);
  for (const uint64_t seed : {101, 102, 103}) {
    const Workload workload = *request.demand(1, seed);
    Cluster cluster;
    for (size_t g = 0; g < 2; ++g) {
      NodeGroup group = request.candidates[g];
      group.nodes = answer.plan.nodes.at(g);
      if (group.nodes > 0) cluster.groups.push_back(group);
    }
    const auto outcome = simulate(cluster, workload, request.policy, request.simulation);
    ASSERT_TRUE(outcome);
    EXPECT_LE(measure_plan(cluster, workload, *outcome, 0.1).mean_wait_s, 2 * 1.25);
  }
}

// Against every plan there is, in small worlds of two and three platforms.
class CapacityOfAllPlans : public testing::TestWithParam<uint64_t> {};

TEST_P(CapacityOfAllPlans, FindsTheCheapest) {
  Random random(GetParam());
  const size_t platforms = 2 + random.below(2);
  std::vector<NodeGroup> candidates;
  std::vector<DemandKind> kinds(3);
  for (size_t g = 0; g < platforms; ++g) {
    const auto cores = 1 + static_cast<int64_t>(random.below(4));
    candidates.push_back(candidate("P" + std::to_string(g), cores,
                                   std::round(100 * static_cast<double>(cores) * random.uniform(0.6, 1.5)) / 100));
  }
  candidates[0].cores_per_node = 4;
  candidates[0].price_per_node_hour += 2;
  for (DemandKind& kind : kinds) {
    kind.cores = 1 + static_cast<int32_t>(random.below(3));
    const double base_s = random.uniform(2, 12);
    for (const NodeGroup& group : candidates) {
      kind.mean_s.push_back(group.cores_per_node < kind.cores ? kUnknown : base_s * std::exp(0.4 * random.normal()));
    }
  }
  auto request = request_of(candidates, kinds, 1500, 0.4, {{ServiceMetric::kMeanWait, random.uniform(0.5, 5)}});
  request.seeds = {GetParam()};
  request.most_plans = 2000;
  const CapacityAnswer answer = answer_of(request);
  EXPECT_TRUE(answer.meets);
  EXPECT_TRUE(answer.complete);

  const Workload workload = *request.demand(1, GetParam());
  double least = answer.plan.value + 1e-6;
  NodePlan best = answer.plan.nodes, plan(platforms, 0);
  const std::function<void(size_t, double)> go = [&](size_t at, double cost) {
    if (at == platforms) {
      Cluster cluster;
      for (size_t g = 0; g < platforms; ++g) {
        if (plan[g] == 0) continue;
        cluster.groups.push_back(candidates[g]);
        cluster.groups.back().nodes = plan[g];
      }
      if (cluster.groups.empty() || cost < answer.lower_bound - 1e-6) return;
      const auto outcome = simulate(cluster, workload, request.policy, request.simulation);
      ASSERT_TRUE(outcome);
      const PlanMeasure measure = measure_plan(cluster, workload, *outcome, 0.1);
      if (measure.impossible > 0 || !(measure.mean_wait_s <= request.objectives[0].target)) return;
      least = cost;
      best = plan;
      return;
    }
    for (plan[at] = 0;; ++plan[at]) {
      const double sum = cost + static_cast<double>(plan[at]) * candidates[at].price_per_node_hour;
      if (sum > least - 1e-6) break;
      go(at + 1, sum);
    }
    plan[at] = 0;
  };
  go(0, 0);
  EXPECT_NEAR(answer.plan.value, least, 1e-5)
      << testing::PrintToString(answer.plan.nodes) << " " << testing::PrintToString(best);
}

INSTANTIATE_TEST_SUITE_P(Worlds, CapacityOfAllPlans, testing::Range<uint64_t>(1, 31));

TEST(Capacity, TheCapHolds) {
  auto request = request_of({candidate("A", 4, 4), candidate("B", 2, 1.7), candidate("C", 1, 0.8)},
                            {{1, {10, 15, 12}}, {1, {4, 20, 9}}}, 1000, 2, {{ServiceMetric::kMeanWait, 1}});
  request.most_plans = 5;
  const CapacityAnswer answer = answer_of(request);
  EXPECT_LE(answer.plans, 6);
  EXPECT_FALSE(answer.complete);
}

TEST(Capacity, BadRequestsAreNamed) {
  const auto good = request_of({candidate("A", 1, 1)}, {{1, {10}}}, 500, 1, {{ServiceMetric::kMeanWait, 5}});
  auto request = good;
  request.candidates.clear();
  EXPECT_EQ(error_of(request), "no-candidate");
  request = good;
  request.candidates[0].nodes = 0;
  EXPECT_EQ(error_of(request), "no-candidate");
  request = good;
  request.candidates[0].price_per_node_hour = kUnknown;
  EXPECT_EQ(error_of(request), "no-price");
  request.candidates[0].price_per_node_hour = 0;
  EXPECT_EQ(error_of(request), "no-price");
  request = good;
  request.candidates[0].platform = "Z";
  EXPECT_EQ(error_of(request), "missing-platform");
  request = good;
  request.demand = poisson_demand({"A"}, {{1, {10}, 2}}, 500, 1);
  EXPECT_EQ(error_of(request), "no-candidate-fits");
  request = good;
  request.objectives.clear();
  EXPECT_EQ(error_of(request), "no-objective");
  request.objectives = {{ServiceMetric::kMeanBoundedSlowdown, 0.5}};
  EXPECT_EQ(error_of(request), "bad-objective");
  request.objectives = {{ServiceMetric::kDeadlineShare, 0.5}};
  EXPECT_EQ(error_of(request), "no-deadline");
  request = good;
  request.demand = poisson_demand({"A"}, {{1, {10}}}, 105, 1);
  request.objectives = {{ServiceMetric::kP99Wait, 5}};
  EXPECT_EQ(error_of(request), "too-few-jobs");
  request = good;
  std::vector<DemandKind> hurried = {{1, {10}}};
  hurried[0].deadline_s = 5;
  hurried[0].fixed_length = true;
  request.demand = poisson_demand({"A"}, hurried, 500, 1);
  request.objectives = {{ServiceMetric::kDeadlineShare, 0.5}};
  EXPECT_EQ(error_of(request), "unreachable-objective");
  request = good;
  request.demand = [](double, uint64_t) -> Result<Workload> { return Workload{}; };
  EXPECT_EQ(error_of(request), "bad-workload");
  request = good;
  request.arrivals_per_s = kUnknown;
  request.demand = poisson_demand({"A"}, {{1, {10}}}, 1, 1);
  EXPECT_EQ(error_of(request), "bad-demand");
  request = good;
  request.goal = CapacityGoal::kPower;
  request.candidates[0].busy_w_per_node = kUnknown;
  EXPECT_EQ(error_of(request), "no-power");
}

TEST(MaximalPlans, AreThoseToWhichNothingCanBeAdded) {
  const double weight[] = {3, 2};
  const int64_t unlimited[] = {kAnyNumber, kAnyNumber}, few[] = {1, 2};
  EXPECT_THAT(maximal_plans(weight, unlimited, 7, 100).plans,
              UnorderedElementsAre(ElementsAre(2, 0), ElementsAre(1, 2), ElementsAre(0, 3)));
  EXPECT_THAT(maximal_plans(weight, few, 100, 100).plans, ElementsAre(ElementsAre(1, 2)));
  EXPECT_THAT(maximal_plans(weight, unlimited, 1, 100).plans, ElementsAre(ElementsAre(0, 0)));
  EXPECT_FALSE(maximal_plans(weight, unlimited, 100, 3).all);
}

TEST(ServiceObjective, ByName) {
  EXPECT_EQ(service_objective("p99_wait_s", 5)->metric, ServiceMetric::kP99Wait);
  EXPECT_EQ(service_objective("p98_wait_s", 5).error().code, "bad-objective");
  EXPECT_EQ(service_objective("deadline_share", 1.5).error().code, "bad-objective");
}

TEST(PlanMeasure, CountsWhatJobsGot) {
  WorkloadMaker maker({"A"});
  maker.job(0, 1, {20}).deadline_s = 20;
  maker.job(10, 1, {20}).deadline_s = 39;  // runs from 20 to 40
  maker.job(30, 1, {5}).cancelled_s = 36;  // gives up after 6 s
  Cluster cluster{{nodes("A", 1, 2)}, ""};
  maker.workload().jobs[0].cores = maker.workload().jobs[1].cores = maker.workload().jobs[2].cores = 2;
  cluster.groups[0].idle_w_per_node = 10;
  cluster.groups[0].busy_w_per_node = 110;
  const auto outcome = simulate(cluster, maker.workload(), Policy::kFcfs, {});
  ASSERT_TRUE(outcome);
  const PlanMeasure measure = measure_plan(cluster, maker.workload(), *outcome, 0);
  EXPECT_DOUBLE_EQ(measure.mean_wait_s, (0 + 10 + 6) / 3.0);
  EXPECT_DOUBLE_EQ(measure.mean_bounded_slowdown, (1 + 1.5) / 2);
  EXPECT_DOUBLE_EQ(measure.deadline_share, 0.5);
  EXPECT_TRUE(std::isnan(measure.p99_wait_s));
  EXPECT_THAT(measure.utilisation, ElementsAre(1));  // up to the last arrival at 30 s
  EXPECT_DOUBLE_EQ(measure.average_power_w, 110);
  EXPECT_DOUBLE_EQ(measure_plan(cluster, maker.workload(), *outcome, 0.34).mean_wait_s, 8);  // the first is warm-up
}

}  // namespace
}  // namespace perfcast::fleet
