#include "fleet/plan/impossible_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/capacity/capacity.h"
#include "fleet/testing/small_world.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

JobRequest asks_for(int64_t id, int32_t cores, bool spread = false, int32_t after = kNoIndex) {
  JobRequest job;
  job.id = id;
  job.cores = cores;
  job.spread = spread;
  job.after = after;
  return job;
}

// On A of two cores a node and B of four, of which A runs all but the fourth, B the first alone.
Workload four_jobs() {
  Workload workload;
  workload.platforms = {"A", "B"};
  workload.jobs = {asks_for(1, 1), asks_for(2, 3), asks_for(3, 6, true, 1), asks_for(4, 1, false, 2)};
  workload.time_s = {10, 5, 10, kUnknown, 10, kUnknown, kUnknown, kUnknown};
  workload.forecast_s = {11, 6, 12, 7, 13, 8, 14, 9};
  return workload;
}

TEST(ImpossibleJobs, FitNoNodeOrHaveNoTimeThere) {
  const Workload workload = four_jobs();
  EXPECT_THAT(impossible_jobs(workload, {nodes("A", 1, 2), nodes("B", 1, 4)}), ElementsAre(1, 2, 3));
  EXPECT_THAT(impossible_jobs(workload, {nodes("A", 3, 2)}), ElementsAre(1, 3));
  EXPECT_THAT(impossible_jobs(workload, {nodes("A", kAnyNumber, 2)}), ElementsAre(1, 3));
  EXPECT_THAT(impossible_jobs(workload, {nodes("A", 3, 4)}), ElementsAre(3));
  EXPECT_THAT(impossible_jobs(workload, {nodes("C", 3, 4)}), ElementsAre(0, 1, 2, 3));
}

TEST(ImpossibleJobs, AreNamed) {
  const Workload workload = four_jobs();
  EXPECT_EQ(impossible_note(workload, {}), "");
  EXPECT_EQ(impossible_note(workload, {1}),
            "1 of 4 jobs fits no node of the cluster, or has no time there, and takes part in nothing: 2 (3 cores)");
  EXPECT_EQ(
      impossible_note(workload, {0, 1, 2, 3}),
      "4 of 4 jobs fit no node of the cluster, or have no time there, and take part in nothing: 1 (1 cores), 2 (3 "
      "cores), 3 (6 cores), ...");
}

TEST(ImpossibleJobs, LeaveTheOthersAsTheyWere) {
  Workload workload = four_jobs();
  leave_out(workload, {});
  ASSERT_EQ(workload.size(), 4u);
  leave_out(workload, {1});
  ASSERT_EQ(workload.size(), 3u);
  EXPECT_EQ(workload.jobs[1].id, 3);
  EXPECT_EQ(workload.jobs[1].after, kNoIndex);  // it waited for the second
  EXPECT_EQ(workload.jobs[2].after, 1);
  EXPECT_THAT(workload.forecast_s, ElementsAre(11, 6, 13, 8, 14, 9));
  EXPECT_EQ(workload.time_s.size(), 6u);
  EXPECT_THAT(workload.lower_s, IsEmpty());
}

}  // namespace
}  // namespace perfcast::fleet
