#include "fleet/jobs/finish_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/testing/small_world.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::IsNan;

Outcome done(const std::vector<std::pair<double, double>>& ready_and_end) {
  Outcome outcome;
  for (const auto& [ready_s, end_s] : ready_and_end) {
    JobResult result;
    result.ready_s = result.start_s = ready_s;
    result.end_s = end_s;
    result.run_s = end_s - ready_s;
    result.group = 0;
    outcome.jobs.push_back(result);
  }
  return outcome;
}

TEST(OwnShare, IsOfEveryGroupWhereTheJobRunsAndNeverMoreThanAllOfItsTime) {
  const std::vector<double> capacity = {6, 2, 4};
  EXPECT_THAT(parts_of_own_share(0.25, 2, capacity, std::vector<double>{1, 1, kUnknown}), ElementsAre(0.75, 0.25, 0));
  EXPECT_THAT(parts_of_own_share(0.1, 2, capacity, std::vector<double>{1, 1, 1}),
              ElementsAre(testing::DoubleEq(0.3), testing::DoubleEq(0.1), testing::DoubleEq(0.2)));
  EXPECT_THAT(parts_of_own_share(1, 1, capacity, std::vector<double>{1, 1, kUnknown}), ElementsAre(0.75, 0.25, 0));
}

// One core for two jobs of 10 s: each has half of it, and would take 20 s.
TEST(FinishTimeRho, IsTheTimeSharedOverThatInAShareOfItsOwn) {
  const Cluster cluster{{nodes("A", 1, 1)}, ""};
  WorkloadMaker maker({"A"});
  maker.job(0, 1, {10});
  maker.job(0, 1, {10});
  // One after the other: the first shares with the second all of its stay, the second shares half of its own.
  const auto rhos = finish_time_rhos(cluster, maker.workload(), done({{0, 10}, {0, 20}}));
  EXPECT_DOUBLE_EQ(rhos[0], 0.5);              // 10 s, in the place of 20
  EXPECT_DOUBLE_EQ(rhos[1], 20 / (10 * 1.5));  // 1.5 jobs on the average
}

TEST(FinishTimeRho, APriorityEntitlesToAsMuchMore) {
  const Cluster cluster{{nodes("A", 1, 1)}, ""};
  WorkloadMaker maker({"A"});
  maker.job(0, 1, {10}).priority = 3;
  maker.job(0, 1, {10});
  // 3 of 4 shares and 1 of 4, to the end: just what they are entitled to.
  const auto rhos = finish_time_rhos(cluster, maker.workload(), done({{0, 40.0 / 3}, {0, 20}}));
  EXPECT_DOUBLE_EQ(rhos[0], 1);
  EXPECT_DOUBLE_EQ(rhos[1], 20 / (10 * (4 * (40.0 / 3) + 1 * (20 - 40.0 / 3)) / 20));
}

TEST(FinishTimeRho, CoresAndGpusAreSharedApart) {
  NodeGroup both = nodes("A", 1, 1);
  both.gpus_per_node = 1;
  WorkloadMaker maker({"A"});
  maker.job(0, 1, {10});
  JobRequest& on_gpu = maker.job(0, 0, {10});
  on_gpu.gpus = 1;
  EXPECT_THAT(finish_time_rhos({{both}, ""}, maker.workload(), done({{0, 10}, {0, 10}})), ElementsAre(1, 1));
}

// A job of two cores can't run on nodes of one: they are no part of what it is entitled to.
TEST(FinishTimeRho, CountsOnlyGroupsThatHoldTheJob) {
  const Cluster cluster{{nodes("A", 1, 2), nodes("B", 8, 1)}, ""};
  WorkloadMaker maker({"A", "B"});
  maker.job(0, 2, {10, 1});
  EXPECT_THAT(finish_time_rhos(cluster, maker.workload(), done({{0, 10}})), ElementsAre(1));
}

TEST(FinishTimeRho, OnlyOfJobsDone) {
  const Cluster cluster{{nodes("A", 1, 1)}, ""};
  WorkloadMaker maker({"A"});
  for (int i = 0; i < 3; ++i) maker.job(0, 1, {10});
  Outcome outcome = done({{0, 10}, {0, 5}, {0, kUnknown}});
  outcome.jobs[1].state = JobState::kKilled;
  const auto rhos = finish_time_rhos(cluster, maker.workload(), outcome);
  EXPECT_DOUBLE_EQ(rhos[0], 10 / (10 * 2.5));  // of three jobs, and two once one was killed
  EXPECT_THAT(rhos[1], IsNan());
  EXPECT_THAT(rhos[2], IsNan());
}

}  // namespace
}  // namespace perfcast::fleet
