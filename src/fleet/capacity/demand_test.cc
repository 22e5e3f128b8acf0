#include "fleet/capacity/demand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/testing/small_schedule.h"
#include "fleet/testing/small_world.h"

namespace perfcast::fleet {
namespace {

using testing::IsNan;

TEST(ScaleArrivals, MovesDeadlinesAndPatienceWithTheJob) {
  Workload workload = small_workload();
  workload.jobs[4].deadline_s = 10;  // before it arrives at 40 s
  scale_arrivals(workload, 2);
  EXPECT_DOUBLE_EQ(workload.jobs[3].arrival_s, 15);
  EXPECT_DOUBLE_EQ(workload.jobs[3].deadline_s, 285);  // 270 s after it arrives, as before
  EXPECT_DOUBLE_EQ(workload.jobs[3].cancelled_s, 75);  // 60 s after
  EXPECT_DOUBLE_EQ(workload.jobs[4].arrival_s, 20);
  EXPECT_DOUBLE_EQ(workload.jobs[4].deadline_s, 0);
  EXPECT_THAT(workload.jobs[1].deadline_s, IsNan());
  EXPECT_THAT(workload.jobs[1].cancelled_s, IsNan());
  EXPECT_TRUE(check_workload(workload).ok());
}

TEST(ScaleArrivals, SpreadsThemOutBelowOne) {
  Workload workload = small_workload();
  scale_arrivals(workload, 0.25);
  EXPECT_DOUBLE_EQ(workload.jobs[2].arrival_s, 80);
  EXPECT_DOUBLE_EQ(workload.jobs[2].deadline_s, 260);
  scale_arrivals(workload, 1);
  EXPECT_DOUBLE_EQ(workload.jobs[2].arrival_s, 80);
}

TEST(SetDeadlines, AllowsAMultipleOfTheFastestTime) {
  Workload workload = small_workload();
  workload.jobs[3].cores = 5;  // slow has nodes of 4
  workload.time_s[6] = 15;     // on fast; on slow 20
  ASSERT_TRUE(set_deadlines(workload, small_cluster(), 3).ok());
  EXPECT_DOUBLE_EQ(workload.jobs[0].deadline_s, 150);
  EXPECT_DOUBLE_EQ(workload.jobs[1].deadline_s, 10 + 3 * 40);  // killed at 40 s on either
  EXPECT_DOUBLE_EQ(workload.jobs[2].deadline_s, 20 + 3 * 200);
  EXPECT_DOUBLE_EQ(workload.jobs[3].deadline_s, 30 + 3 * 15);
  EXPECT_THAT(workload.jobs[4].deadline_s, IsNan());  // 64 cores on one node: fits nowhere

  Cluster slow = small_cluster();
  slow.groups.pop_back();
  workload = small_workload();
  ASSERT_TRUE(set_deadlines(workload, slow, 3).ok());
  EXPECT_DOUBLE_EQ(workload.jobs[0].deadline_s, 300);
  slow.groups[0].platform = "other";
  EXPECT_EQ(set_deadlines(workload, slow, 3).error().code, "missing-platform");
}

TEST(DefaultLimits, ForJobsThatAskForNone) {
  WorkloadMaker maker({"A", "B"});
  maker.job(0, 1, {10, 20});
  maker.job(1, 1, {10, 500});
  maker.job(2, 1, {10, 20}).limit_s = 7;
  const auto set = set_default_limits(maker.workload(), 60);
  ASSERT_TRUE(set);
  EXPECT_EQ(*set, 2u);
  EXPECT_EQ(maker.workload().jobs[0].limit_s, 60);
  EXPECT_EQ(maker.workload().jobs[1].limit_s, 500);
  EXPECT_EQ(maker.workload().jobs[2].limit_s, 7);
  EXPECT_EQ(set_default_limits(maker.workload(), 0).error().code, "bad-usage");
}

}  // namespace
}  // namespace perfcast::fleet
