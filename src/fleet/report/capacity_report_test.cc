#include "fleet/report/capacity_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/json.h"
#include "fleet/testing/poisson_demand.h"
#include "fleet/testing/small_world.h"

namespace perfcast::fleet {
namespace {

using testing::HasSubstr;
using testing::Not;

CapacityRequest small_request() {
  CapacityRequest request;
  request.candidates = {nodes("A", kAnyNumber, 4), nodes("B", kAnyNumber, 4)};
  request.candidates[0].price_per_node_hour = 4;
  request.candidates[1].price_per_node_hour = 1;
  request.currency = "EUR";
  request.demand = poisson_demand({"A", "B"}, {{1, {10, 20}}}, 2000, 1);
  request.objectives = {{ServiceMetric::kP99Wait, 30}, {ServiceMetric::kMeanBoundedSlowdown, 2}};
  request.perturb = [](Workload&, double, uint64_t) { return Status(); };
  request.growth = {1, 2};
  return request;
}

TEST(CapacityReport, HasTheFieldsThatAreFixed) {
  const auto answer = plan_capacity(small_request());
  ASSERT_TRUE(answer) << to_text(answer.error());
  const Json json = capacity_json(*answer);
  EXPECT_EQ(json["schema"], "perfcast.capacity/1");
  EXPECT_EQ(json["plan"]["A"], 0);
  EXPECT_EQ(json["plan"]["B"], answer->plan.nodes[1]);
  EXPECT_EQ(json["cost"], static_cast<double>(answer->plan.nodes[1]));
  EXPECT_EQ(json["meets"], true);
  EXPECT_GT(json["second_best"]["plan"]["A"], 0);
  EXPECT_EQ(json["goal"], "cost_per_hour");
  EXPECT_EQ(json["service"][0]["objective"], "p99_wait_s");
  EXPECT_GE(json["service"][0]["rate_factor_limit"], 1);
  EXPECT_FALSE(json.contains("average_power_w"));  // nobody said what the nodes draw
  EXPECT_FALSE(json["utilisation"].contains("A"));
  EXPECT_EQ(json["sensitivity"].size(), 5U);
  EXPECT_EQ(json["growth"][1]["rate_factor"], 2.0);
  EXPECT_GT(json["growth"][1]["cost"], json["cost"]);
  EXPECT_TRUE(parse_json(to_text(json), "capacity"));
  EXPECT_THAT(to_text(json), Not(HasSubstr("nan")));
}

TEST(CapacityReport, ReadsAsAnAnswer) {
  const auto answer = plan_capacity(small_request());
  ASSERT_TRUE(answer);
  const std::string text = capacity_text(*answer);
  EXPECT_THAT(text, testing::StartsWith("plan: " + std::to_string(answer->plan.nodes[1]) + " x B, policy mct\n"));
  for (const char* part : {"EUR an hour", "p99 wait", "<= 30 s", "meets", "best without B: ", " x A", "x 2", "bounded",
                           "lower bound without queues", "other forecasts"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("MISSES")));
}

TEST(CapacityReport, SaysWhenThePlanIsOutgrownAndWhatIsNext) {
  CapacityAnswer answer;
  answer.platforms = {"A"};
  answer.goal = CapacityGoal::kNodes;
  answer.arrivals_per_s = 0.1;
  answer.meets = true;
  answer.plan.nodes = {5};
  answer.plan.fluid_load = 0.8;
  answer.plan.utilisation = {0.8};
  ServiceResult wait;
  wait.objective = {ServiceMetric::kP99Wait, 30};
  wait.rate_limit = 1.1;
  ServiceResult slowdown = wait;
  slowdown.objective = {ServiceMetric::kMeanBoundedSlowdown, 2};
  slowdown.rate_limit = 1.2;
  answer.plan.service = {slowdown, wait};  // the wait breaks first
  answer.growth.resize(3);
  for (size_t i = 0; i < 3; ++i) {
    answer.growth[i].rate_factor = std::array{1.0, 1.25, 2.0}[i];
    answer.growth[i].plan = PlanResult{};
    answer.growth[i].plan->nodes = {static_cast<int64_t>(5 + i)};
    answer.growth[i].plan->value = static_cast<double>(5 + i);
  }
  EXPECT_THAT(capacity_text(answer), HasSubstr("outgrown: above 1.10 x this load (396 jobs/h): p99 wait is then above "
                                               "30 s\nthen: 6 x A, 6 nodes, is enough for 1.25 x this load\n"));
  answer.growth[1].plan.reset();
  EXPECT_THAT(capacity_text(answer),
              HasSubstr("then: more nodes than the cluster has are needed for 1.25 x this load"));
  for (ServiceResult& each : answer.plan.service) each.rate_limit_is_floor = true;
  answer.plan.service[1].rate_limit = answer.plan.service[0].rate_limit = 1.249;
  EXPECT_THAT(capacity_text(answer), HasSubstr("outgrown: above 1.25 x this load (450 jobs/h): the nodes are then "
                                               "always busy"));
  answer.plan.fluid_load = 0.01;
  EXPECT_THAT(capacity_text(answer), HasSubstr("outgrown: not up to 1.25 x this load"));
  answer.meets = false;  // what does not hold is not outgrown
  EXPECT_THAT(capacity_text(answer), Not(HasSubstr("outgrown")));
}

TEST(CapacityReport, HasNoSlackBelowNone) {
  CapacityAnswer answer;
  answer.platforms = {"A"};
  answer.plan.nodes = {5};
  answer.plan.utilisation = {0.8};
  const auto with = [&](ServiceMetric metric, double slack) {
    ServiceResult service;
    service.objective = {metric, 0.9};
    service.slack = slack;
    answer.plan.service = {service};
    return capacity_text(answer);
  };
  EXPECT_THAT(with(ServiceMetric::kP99Wait, -146.43), HasSubstr(" none, 147 x target "));
  EXPECT_THAT(with(ServiceMetric::kMeanBoundedSlowdown, -0.05), HasSubstr(" none, 1.05 x target "));
  EXPECT_THAT(with(ServiceMetric::kDeadlineShare, -0.2), Not(HasSubstr("x target")));
  EXPECT_THAT(with(ServiceMetric::kDeadlineShare, -0.2), HasSubstr(" none "));
  EXPECT_THAT(with(ServiceMetric::kP99Wait, 0.23), HasSubstr(" 23% "));
}

TEST(CapacityReport, SaysWhatTheBudgetReaches) {
  auto request = small_request();
  request.budget_per_hour = 4;
  const auto answer = plan_capacity(request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(capacity_json(*answer)["meets"], false);
  EXPECT_TRUE(capacity_json(*answer)["second_best"].is_null());
  const std::string text = capacity_text(*answer);
  EXPECT_THAT(text, testing::StartsWith("no plan meets; the nearest: 4 x B, policy mct\n"));
  EXPECT_THAT(text, HasSubstr("MISSES"));
  EXPECT_THAT(text, HasSubstr("above the cost limit"));
}

TEST(CapacityReport, TheSameRequestGivesTheSameBytes) {
  const auto a = plan_capacity(small_request()), b = plan_capacity(small_request());
  ASSERT_TRUE(a && b);
  EXPECT_EQ(to_text(capacity_json(*a)), to_text(capacity_json(*b)));
  EXPECT_EQ(capacity_text(*a), capacity_text(*b));
}

}  // namespace
}  // namespace perfcast::fleet
