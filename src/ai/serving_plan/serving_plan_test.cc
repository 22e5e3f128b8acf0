#include "ai/serving_plan/serving_plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ai/serving_plan/testing/test_plan.h"

namespace perfcast::ai {
namespace {

using plan_test::request;

// Whether a whole service keeps its objectives without falling behind, as llm serve-sim tells it.
bool is_enough(const ServingPlanRequest& request, size_t device, int64_t degree, int64_t replicas, double factor = 1,
               double error_deviations = 0) {
  ServingRequestFor asked = request.service;
  asked.devices = {request.service.devices[device]};
  asked.formats.tensor_parallel = degree;
  asked.replicas = replicas;
  asked.error_half_widths = error_deviations / 1.6448536269514722;
  asked.loads = {{.rate_per_s = request.load.rate_per_s, .words = "", .trace = [&] {
                    return request.load.trace(factor, *request.load.requests);
                  }}};
  const auto result = forecast_serving(asked);
  if (!result) return false;
  const ServingSummary& summary = result->rows.front().forecast;
  return summary.pace != Pace::kFallsBehind && std::all_of(summary.objectives.begin(), summary.objectives.end(),
                                                           [](const ObjectiveOutcome& outcome) { return outcome.met; });
}

// The least number of devices, tried one by one.
int64_t least_by_trying(const ServingPlanRequest& request, size_t device, int64_t most_replicas) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const int64_t degree : request.tensor_parallel) {
    for (int64_t replicas = 1; replicas <= most_replicas; ++replicas) {
      if (!is_enough(request, device, degree, replicas)) continue;
      least = std::min(least, degree * replicas);
      break;
    }
  }
  return least;
}

TEST(PlanServing, EachDeviceHasTheLeastThatTryingAllFinds) {
  for (const double rate : {3.0, 20.0, 60.0}) {
    const auto plan = plan_serving(request(rate));
    ASSERT_TRUE(plan.ok());
    ASSERT_EQ(plan->services.size(), 2);
    for (const PlannedService& service : plan->services) {
      EXPECT_TRUE(service.holds());
      EXPECT_EQ(service.devices(), least_by_trying(plan->request, service.device, 24)) << rate << " " << service.device;
    }
    EXPECT_LE(plan->services[0].cost_per_hour, plan->services[1].cost_per_hour);
  }
}

TEST(PlanServing, TheGoalChooses) {
  ServingPlanRequest asked = request(40);
  const auto by_cost = plan_serving(asked);
  asked.goal = PlanGoal::kDevices;
  const auto by_devices = plan_serving(asked);
  asked.goal = PlanGoal::kPower;
  const auto by_power = plan_serving(asked);
  ASSERT_TRUE(by_cost.ok() && by_devices.ok() && by_power.ok());
  const auto least = [&](const auto& of) { return std::min(of(by_cost->services[0]), of(by_cost->services[1])); };
  EXPECT_EQ(by_cost->services[0].cost_per_hour, least([](const auto& service) { return service.cost_per_hour; }));
  EXPECT_EQ(by_devices->services[0].devices(), least([](const auto& service) { return service.devices(); }));
  EXPECT_EQ(by_power->services[0].power_w, least([](const auto& service) { return service.power_w; }));
  EXPECT_EQ(by_devices->services[0].device, 0);  // the fast one
}

TEST(PlanServing, HeadroomIsWhereTheObjectivesBreak) {
  const auto plan = plan_serving(request(20));
  ASSERT_TRUE(plan.ok() && plan->headroom);
  const PlannedService& best = plan->services.front();
  const double factor = plan->headroom->factor;
  EXPECT_FALSE(plan->headroom->is_floor);
  EXPECT_TRUE(is_enough(plan->request, best.device, best.tensor_parallel, best.replicas, factor));
  EXPECT_FALSE(is_enough(plan->request, best.device, best.tensor_parallel, best.replicas, 1.02 * factor));
  EXPECT_GT(plan->headroom->beyond.requests, 0);
}

TEST(PlanServing, DrawsOfTheErrorThatThePlanHoldsIn) {
  const auto plan = plan_serving(request(20));
  ASSERT_TRUE(plan.ok() && plan->sureness);
  const PlannedService& best = plan->services.front();
  const int64_t held = plan->sureness->held;
  ASSERT_GE(held, 50);
  ASSERT_LT(held, PlanSureness::kEnough);
  // Normal quantiles of 0.895.
  const double enough = 1.2535654384704511;
  EXPECT_FALSE(is_enough(plan->request, best.device, best.tensor_parallel, best.replicas, 1, enough));
  ASSERT_TRUE(plan->sureness->sure);
  const PlannedService& sure = *plan->sureness->sure;
  EXPECT_TRUE(is_enough(plan->request, sure.device, sure.tensor_parallel, sure.replicas, 1, enough));
  EXPECT_GT(sure.cost_per_hour, best.cost_per_hour);

  ServingPlanRequest asked = request(20);
  asked.confidence = 0.9;
  const auto surely = plan_serving(asked);
  ASSERT_TRUE(surely.ok() && surely->sureness);
  EXPECT_EQ(surely->services.front().cost_per_hour, sure.cost_per_hour);
  EXPECT_GE(surely->sureness->held, PlanSureness::kEnough);
  EXPECT_FALSE(surely->sureness->sure);
}

TEST(PlanServing, GrowthIsPlannedForInThePlansKind) {
  ServingPlanRequest asked = request(10);
  asked.growth = {1, 3};
  const auto plan = plan_serving(asked);
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->growth.size(), 2);
  const PlannedService &now = plan->growth[0].service, &later = plan->growth[1].service;
  EXPECT_EQ(now.replicas, plan->services.front().replicas);
  EXPECT_EQ(later.device, now.device);
  EXPECT_TRUE(is_enough(plan->request, later.device, later.tensor_parallel, later.replicas, 3));
  EXPECT_FALSE(is_enough(plan->request, later.device, later.tensor_parallel, later.replicas - 1, 3));
}

TEST(PlanServing, LimitsThatNoServiceKeepsAreTold) {
  ServingPlanRequest asked = request(40);
  const auto free = plan_serving(asked);
  ASSERT_TRUE(free.ok());
  asked.most_cost_per_hour = free->services.front().cost_per_hour - 1;
  const auto bound = plan_serving(asked);
  ASSERT_TRUE(bound.ok());
  EXPECT_FALSE(bound->has_plan());
  EXPECT_EQ(bound->services.front().cost_per_hour, free->services.front().cost_per_hour);
  ASSERT_TRUE(bound->most_allowed);
  EXPECT_EQ(bound->most_allowed->replicas, free->services.front().replicas - 1);
  EXPECT_FALSE(bound->headroom);
}

TEST(PlanServing, ObjectivesThatNoNumberKeeps) {
  const auto plan = plan_serving(request(5, "tpot=1ms"));
  ASSERT_TRUE(plan.ok());
  EXPECT_FALSE(plan->has_plan());
  for (const PlannedService& service : plan->services) {
    EXPECT_EQ(service.code, "objectives");
    EXPECT_THAT(service.problem, testing::StartsWith("alone, 0.0% of the requests keep tpot=1ms"));
  }
}

TEST(PlanServing, AModelThatFitsNowhereIsAnError) {
  ServingPlanRequest asked = request(5);
  asked.service.config = *built_in_model("llama3-70b");
  asked.tensor_parallel = {1};
  const auto plan = plan_serving(asked);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, "no-memory");
  EXPECT_EQ(plan.error().kind, ErrorKind::kInfeasible);
  EXPECT_THAT(plan.error().message, testing::StartsWith("none of 2 devices can serve llama3-70b; the largest: "));
  EXPECT_THAT(plan.error().expected, testing::HasSubstr("--tensor-parallel 2"));
}

TEST(PlanServing, AGoalThatNobodyKnowsIsAnError) {
  ServingPlanRequest asked = request(5);
  for (ServingDevice& device : asked.service.devices) device.price_per_hour = kUnknown;
  const auto plan = plan_serving(asked);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, "no-price");
  // One price is enough to choose by.
  asked.service.devices[0].price_per_hour = 3;
  const auto priced = plan_serving(asked);
  ASSERT_TRUE(priced.ok());
  EXPECT_EQ(priced->services.front().device, 0);
}

TEST(PlanServing, ClientsOfAClosedLoop) {
  ServingPlanRequest asked = request(kUnknown);
  asked.load.rate_per_s = kUnknown;
  asked.load.concurrency = 60;
  asked.load.trace = [](double, int64_t requests) {
    return draw_trace({.requests = requests, .prompt_tokens = 256, .output_tokens = 32, .log_spread = 0.5});
  };
  const auto plan = plan_serving(asked);
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->has_plan());
  EXPECT_GT(plan->services.front().replicas, 1);
  EXPECT_GE(plan->headroom->factor, 1);
  EXPECT_LT(plan->headroom->factor, 2);
}

}  // namespace
}  // namespace perfcast::ai
