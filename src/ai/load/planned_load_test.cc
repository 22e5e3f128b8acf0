#include "ai/load/planned_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <thread>

#include "ai/load/load_generator.h"
#include "ai/load/load_summary.h"
#include "ai/load/testing/scripted_system.h"

namespace perfcast::ai {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kMs = 1'000'000;

// Answers each sample after some time, from threads of its own; knows how many were on their way at once.
class SlowSystem final : public SystemUnderTest {
 public:
  SlowSystem(double takes_s, std::set<uint32_t> failing = {}) : takes_s_(takes_s), failing_(std::move(failing)) {}
  std::string name() const override { return "slow"; }
  Status start(std::span<const uint32_t> /*samples*/, ResponseSink& sink) override {
    sink_ = &sink;
    return {};
  }
  void issue(std::span<const IssuedSample> query) override {
    for (const IssuedSample& sample : query) {
      indices.push_back(sample.index);
      most = std::max(most, ++now_);
      threads_.emplace_back([this, sample] {
        std::this_thread::sleep_for(std::chrono::duration<double>(takes_s_));
        --now_;
        if (failing_.count(sample.index) > 0) {
          sink_->fail(sample.id, "asked to");
        } else {
          sink_->complete(sample.id, {});
        }
      });
    }
  }
  void finish() override { threads_.clear(); }

  std::vector<uint32_t> indices;
  int most = 0;

 private:
  double takes_s_;
  std::set<uint32_t> failing_;
  std::atomic<int> now_{0};
  ResponseSink* sink_ = nullptr;
  std::vector<std::jthread> threads_;
};

LoadSettings clients(int64_t count) {
  LoadSettings settings;
  settings.scenario = LoadScenario::kConcurrency;
  settings.concurrency = count;
  settings.loaded_samples = settings.total_samples = 16;
  settings.min_duration_s = 0;
  settings.min_queries = 20;
  settings.keeps_due = true;
  return settings;
}

LoadSettings planned(LoadPlan plan) {
  LoadSettings settings;
  settings.scenario = LoadScenario::kTrace;
  settings.loaded_samples = settings.total_samples = static_cast<int64_t>(plan.size());
  settings.min_duration_s = 0;
  settings.plan = std::make_shared<const LoadPlan>(std::move(plan));
  settings.keeps_due = true;
  return settings;
}

TEST(PlannedLoad, SoManyClientsAreBusyAtOnce) {
  SlowSystem system(0.01);
  const auto result = run_load(clients(4), system);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->faults, IsEmpty());
  EXPECT_EQ(system.most, 4);
  EXPECT_GE(result->queries, 20);
  EXPECT_EQ(result->answered, result->queries);
  EXPECT_EQ(result->due_ns.size(), result->latencies_ns.size());
  // Five rounds of 10 ms; one after the other they would take 200 ms.
  EXPECT_GE(result->end_ns, 50 * kMs);
  EXPECT_LT(result->end_ns, 190 * kMs);
  const LoadSummary summary = summarise(*result);
  EXPECT_NEAR(summary.queries_per_s, static_cast<double>(result->queries) / summary.seconds_s, 1e-6);
}

TEST(PlannedLoad, ClientsStopAtTheirLimits) {
  SlowSystem system(0.001);
  LoadSettings settings = clients(3);
  settings.max_queries = 7;
  const auto result = run_load(settings, system);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->queries, 7);
  EXPECT_EQ(result->answered, 7);
}

TEST(PlannedLoad, SystemsThatAnswerAtOnce) {
  ScriptedSystem system(answer_all);
  LoadSettings settings = clients(2);
  settings.min_queries = 10'000;
  const auto result = run_load(settings, system);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->faults, IsEmpty());
  EXPECT_GE(result->answered, 10'000);
}

TEST(PlannedLoad, TracesKeepTheirTimesAndTurnsTheirOrder) {
  // 0 at once, 1 at 20 ms, 2 10 ms behind the end of 0, 3 5 ms behind that of 2.
  SlowSystem system(0.01);
  const auto result = run_load(planned({{0, -1}, {0.02, -1}, {0.01, 0}, {0.005, 2}}), system);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->faults, IsEmpty());
  EXPECT_EQ(result->answered, 4);
  // 2 is due at about 20 ms as 1 is.
  EXPECT_EQ(system.indices.front(), 0u);
  EXPECT_EQ(system.indices.back(), 3u);
  EXPECT_GE(result->last_due_ns, 35 * kMs);
  EXPECT_GE(result->end_ns, 45 * kMs);
  EXPECT_LT(*std::max_element(result->lateness_ns.begin(), result->lateness_ns.end()), 30 * kMs);
}

TEST(PlannedLoad, AConversationEndsWhereATurnFails) {
  SlowSystem system(0.001, {1});
  const auto result = run_load(planned({{0, -1}, {0, 0}, {0, 1}, {0.03, -1}}), system);
  ASSERT_TRUE(result);
  EXPECT_THAT(system.indices, ElementsAre(0, 1, 3));
  EXPECT_EQ(result->failed, 1);
  EXPECT_EQ(result->queries, 3);
}

TEST(PlannedLoad, ClientsTakeConversationsOneAfterTheOther) {
  SlowSystem system(0.002);
  LoadSettings settings = planned({{0, -1}, {0.001, 0}, {0, -1}, {0.001, 2}});
  settings.scenario = LoadScenario::kConcurrency;
  settings.concurrency = 1;
  settings.min_queries = 6;
  const auto result = run_load(settings, system);
  ASSERT_TRUE(result);
  EXPECT_EQ(system.most, 1);
  system.indices.resize(6);  // from the first again, where there are too few
  EXPECT_THAT(system.indices, ElementsAre(0, 1, 2, 3, 0, 1));
}

TEST(PlannedLoad, TracesAreCut) {
  SlowSystem system(0.001);
  LoadSettings settings = planned({{0, -1}, {0.01, -1}, {0.5, -1}});
  settings.max_duration_s = 0.1;
  const auto result = run_load(settings, system);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->queries, 2);
  EXPECT_LT(result->end_ns, 400 * kMs);
}

TEST(PlannedLoad, PlansOutOfOrderAreRefused) {
  EXPECT_FALSE(check(planned({{0.2, -1}, {0.1, -1}})));
  EXPECT_FALSE(check(planned({{0, 0}})));
  EXPECT_FALSE(check(planned({{0, -1}, {-1, 0}})));
  EXPECT_FALSE(check(planned({})));
  EXPECT_TRUE(check(planned({{0.2, -1}, {0.1, 0}, {0.3, -1}})));
  LoadSettings server = planned({{0, -1}});
  server.scenario = LoadScenario::kServer;
  EXPECT_FALSE(check(server));
  EXPECT_FALSE(check(clients(0)));
}

}  // namespace
}  // namespace perfcast::ai
