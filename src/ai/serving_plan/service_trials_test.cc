#include "ai/serving_plan/service_trials.h"

#include <gmock/gmock.h>

#include <vector>

#include "ai/serving_plan/testing/test_plan.h"

namespace perfcast::ai {
namespace {

using testing::ElementsAre;

std::vector<double> arrivals_of(const ServingTrace& trace) {
  std::vector<double> times;
  for (const ServingRequest& request : trace.requests) times.push_back(request.arrival_s);
  return times;
}

// Conversations of two turns that come at 0, 2, 4, ... s.
ServingTrace conversations(int64_t count) {
  ServingTrace trace;
  for (int64_t i = 0; i < count; ++i) {
    trace.requests.push_back({.arrival_s = 2 * static_cast<double>(i), .prompt_tokens = 10 + i});
    trace.requests.push_back({.arrival_s = 0.5, .prompt_tokens = 20 + i, .after = static_cast<int32_t>(2 * i)});
  }
  return trace;
}

TEST(ScaledTrace, MoreOfALoadComesFasterAndThinksAsLong) {
  EXPECT_THAT(arrivals_of(scaled_trace(conversations(3), 4, 1)), ElementsAre(0, 0.5, 0.5, 0.5, 1, 0.5));
  EXPECT_THAT(arrivals_of(scaled_trace(conversations(2), 1, 1)), ElementsAre(0, 0.5, 2, 0.5));
}

TEST(ScaledTrace, LessOfALoadKeepsWholeConversationsAtTheirTimes) {
  const ServingTrace part = scaled_trace(conversations(1000), 0.25, 7);
  ASSERT_EQ(part.requests.size() % 2, 0);
  EXPECT_NEAR(static_cast<double>(part.requests.size()) / 2, 250, 3 * 13.7);  // three standard deviations
  for (size_t i = 0; i < part.requests.size(); i += 2) {
    EXPECT_EQ(part.requests[i].after, -1);
    EXPECT_EQ(part.requests[i].arrival_s, 2 * static_cast<double>(part.requests[i].prompt_tokens - 10));
    EXPECT_EQ(part.requests[i + 1].after, static_cast<int32_t>(i));
    EXPECT_EQ(part.requests[i + 1].prompt_tokens, part.requests[i].prompt_tokens + 10);
  }
  EXPECT_EQ(arrivals_of(scaled_trace(conversations(1000), 0.25, 7)), arrivals_of(part));
}

TEST(ScaledTrace, OneRequestIsLeft) {
  EXPECT_THAT(arrivals_of(scaled_trace(conversations(1), 1e-9, 1)), ElementsAre(0));
}

TEST(ServiceTrials, ManyReplicasAreSimulatedInPart) {
  ServingPlanRequest request = plan_test::request(100);
  request.load.requests = 8000;
  ServiceTrials trials(request);
  const ServiceKind kind{.device = 1, .tensor_parallel = 1};
  const auto rough = trials.run(kind, 32, {}, TrialExtent::kRough), part = trials.run(kind, 32, {}, TrialExtent::kPart),
             whole = trials.run(kind, 32, {}, TrialExtent::kWhole);
  ASSERT_TRUE(rough.ok() && part.ok() && whole.ok());
  EXPECT_EQ(rough->simulated_replicas, 1);
  EXPECT_EQ(part->simulated_replicas, 8);
  EXPECT_EQ(whole->simulated_replicas, 32);
  EXPECT_EQ(whole->row.requests, 8000);
  // A quarter of the load on a quarter of the replicas: about as fast, and a little worse without the others.
  EXPECT_NEAR(part->row.forecast.offered_per_s, 25, 2.5);
  EXPECT_NEAR(part->row.forecast.further_token.p50 / whole->row.forecast.further_token.p50, 1, 0.05);
  EXPECT_EQ(trials.simulations(), 3);
  ASSERT_TRUE(trials.run(kind, 32, {}, TrialExtent::kPart).ok());
  EXPECT_EQ(trials.simulations(), 3);  // known
}

TEST(ServiceTrials, AnOverloadIsTold) {
  const ServingPlanRequest request = plan_test::request(100);
  ServiceTrials trials(request);
  const auto one = trials.run({}, 1, {}, TrialExtent::kRough), two = trials.run({}, 2, {}, TrialExtent::kRough);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_FALSE(one->holds);
  EXPECT_GT(one->overload, 3);
  EXPECT_NEAR(two->overload / one->overload, 0.5, 0.05);
}

// The requests of some seconds don't fill a service that is too small for its rate.
TEST(ServiceTrials, AWholeServiceIsNoLargerThanItsPartsTell) {
  constexpr double kRate = 1500;
  ServingPlanRequest request = plan_test::request(kRate);
  request.load.requests.reset();
  ServiceTrials trials(request);
  const auto small = trials.run({}, 16, {}, TrialExtent::kPart);
  ASSERT_TRUE(small.ok());
  ASSERT_GT(small->overload, 1);
  const double enough = 16 * small->overload;  // replicas
  const auto few = trials.run({}, static_cast<int64_t>(0.8 * enough), {}, TrialExtent::kWhole),
             many = trials.run({}, static_cast<int64_t>(1.3 * enough), {}, TrialExtent::kWhole);
  ASSERT_TRUE(few.ok() && many.ok());
  EXPECT_FALSE(few->holds);
  EXPECT_TRUE(many->holds);
  EXPECT_EQ(many->row.forecast.pace, Pace::kKeepsUp);
}

TEST(ServiceTrials, SlowerTimesAreTheEndsOfTheInterval) {
  const ServingPlanRequest request = plan_test::request(5);
  ServiceTrials trials(request);
  ServingRequestFor asked = request.service;
  asked.devices.resize(1);
  asked.loads = {{.rate_per_s = 5, .words = "", .trace = [&] { return request.load.trace(1, 1000); }}};
  const auto rows = forecast_serving(asked);
  ASSERT_TRUE(rows.ok());
  const auto slow = trials.run({}, 1, {.error_deviations = 1.6448536269514722}, TrialExtent::kPart);
  ASSERT_TRUE(slow.ok());
  EXPECT_NEAR(slow->row.forecast.whole.p95, rows->rows.front().slow.whole.p95, 1e-9);
  EXPECT_GT(slow->row.forecast.whole.p95, rows->rows.front().forecast.whole.p95);
}

TEST(ServiceTrials, AModelThatDoesNotFitIsNoError) {
  ServingPlanRequest request = plan_test::request(5);
  request.service.config = *built_in_model("llama3-70b");
  ServiceTrials trials(request);
  const auto trial = trials.alone({}, {});
  ASSERT_TRUE(trial.ok());
  EXPECT_EQ(trial->code, "no-memory");
  EXPECT_FALSE(trial->holds);
}

}  // namespace
}  // namespace perfcast::ai
