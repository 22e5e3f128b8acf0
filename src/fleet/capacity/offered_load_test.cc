#include "fleet/capacity/offered_load.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fleet/testing/small_world.h"

namespace perfcast::fleet {
namespace {

TEST(OfferedLoad, OfAMixIsTheFluidLimit) {
  // Each program is fast on its own platform: two cores of each carry 4 jobs a second when each goes home.
  ProgramMix mix;
  mix.platforms = {"A", "B"};
  mix.programs.resize(2);
  mix.programs[0].time_s = {1, 4};
  mix.programs[1].time_s = {4, 1};
  const Cluster cluster{{nodes("B", 1, 2), nodes("A", 2, 1)}, ""};
  const auto most = highest_rate_per_s(mix, cluster);
  ASSERT_TRUE(most);
  EXPECT_NEAR(*most, 4, 1e-9);
  EXPECT_EQ(highest_rate_per_s(mix, {{nodes("C", 1, 2)}, ""}).error().code, "missing-platform");
  mix.programs[1].gpus = 1;
  EXPECT_EQ(highest_rate_per_s(mix, cluster).error().code, "bad-mix");
}

TEST(OfferedLoad, OfAStreamIsItsRateOverThat) {
  WorkloadMaker maker({"A", "B"});
  for (int i = 0; i <= 100; ++i) maker.job(i * 0.5, 1, {1, 2});
  Workload& workload = maker.workload();
  workload.programs = {"p"};
  for (JobRequest& job : workload.jobs) job.program = 0;
  // A core of A carries 1 a second, one of B half a one; 2 a second come.
  EXPECT_NEAR(offered_load(workload, {{nodes("A", 1, 1), nodes("B", 1, 1)}, ""}), 2 / 1.5, 1e-9);
  for (JobRequest& job : workload.jobs) job.arrival_s = 0;
  EXPECT_TRUE(std::isnan(offered_load(workload, {{nodes("A", 1, 1)}, ""})));
}

TEST(OfferedLoad, JobsWithoutAProgramAreNotOneKind) {
  // Half are at home on A, half on B: each platform has a second of work for every four.
  WorkloadMaker maker({"A", "B"});
  for (int i = 0; i <= 1000; ++i) {
    maker.job(i * 2.0, 1, i % 2 == 0 ? std::vector<double>{100, 1} : std::vector<double>{1, 100});
  }
  const Cluster cluster{{nodes("A", 1, 1), nodes("B", 1, 1)}, ""};
  EXPECT_NEAR(offered_load(maker.workload(), cluster), 0.25, 0.001);
  // What a limit kills is no load, nor is what fits nowhere.
  maker.job(2000, 1, {1e9, 1e9}).limit_s = 1;
  maker.job(2000, 5, {1e9, 1e9});
  EXPECT_NEAR(offered_load(maker.workload(), cluster), 0.25, 0.002);
  EXPECT_GT(offered_load(maker.workload(), cluster, false), 1000);
}

}  // namespace
}  // namespace perfcast::fleet
