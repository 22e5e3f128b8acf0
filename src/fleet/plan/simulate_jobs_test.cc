#include "fleet/plan/simulate_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/testing/small_world.h"

namespace perfcast::fleet {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

// One core; a job of 10 s every 20 s.
JobStream every_20_s() {
  JobStream stream;
  stream.cluster = {{nodes("A", 1, 1)}, ""};
  stream.source = "by hand";
  stream.jobs = [](uint64_t) {
    WorkloadMaker maker({"A"});
    for (int i = 0; i < 10; ++i) maker.job(20.0 * i, 1, {10});
    return Result<Workload>(maker.workload());
  };
  return stream;
}

TEST(SimulateJobs, GivesEachPolicyTheLoadAndTheSweep) {
  SimulateJobsRequest request{every_20_s(), {}, {0, 1}};
  request.comparison.policies = {Policy::kFcfs, Policy::kMinimumCompletion};
  request.comparison.seeds = 2;
  const auto simulated = simulate_jobs(request);
  ASSERT_TRUE(simulated) << to_text(simulated.error());
  ASSERT_THAT(simulated->report.runs, SizeIs(4));
  EXPECT_DOUBLE_EQ(simulated->report.runs[0].summary.makespan_s, 190);
  EXPECT_NEAR(simulated->offered_load, 0.5, 0.06);  // 10 jobs, 9 gaps
  EXPECT_THAT(simulated->report.notes, Contains(HasSubstr("a trace is the same for every seed")));
  ASSERT_TRUE(simulated->sweep);
  EXPECT_THAT(simulated->sweep->points, SizeIs(8));
  request.error_ratios.clear();
  EXPECT_FALSE(simulate_jobs(request)->sweep);
}

TEST(SimulateJobs, SaysWhyAPolicyCanNotBeUsed) {
  SimulateJobsRequest request{every_20_s(), {}, {}};
  request.comparison.policies = {Policy::kMinimumCompletionCost};
  const auto refused = simulate_jobs(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "no-price");
  EXPECT_EQ(refused.error().kind, ErrorKind::kInfeasible);
}

}  // namespace
}  // namespace perfcast::fleet
