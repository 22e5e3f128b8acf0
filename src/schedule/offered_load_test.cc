#include "schedule/offered_load.h"

#include <gtest/gtest.h>

#include <cmath>

#include "schedule/testing/small_world.h"

namespace perfcast {
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

}  // namespace
}  // namespace perfcast
