#include "fleet/jobs/job_power.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fleet/testing/small_world.h"

namespace perfcast::fleet {
namespace {

TEST(JobPower, OwnEnergyComesBeforeTheShareOfTheNode) {
  WorkloadMaker maker({"A"});
  maker.job(0, 2, {10});
  NodeGroup group = nodes("A", 1, 8);
  EXPECT_TRUE(std::isnan(power_above_idle_w(maker.workload(), 0, group, 0)));
  group.idle_w_per_node = 100;
  group.busy_w_per_node = 180;
  EXPECT_EQ(power_above_idle_w(maker.workload(), 0, group, 0), 20);  // two of eight cores
  maker.workload().energy_joules = {50};
  EXPECT_EQ(power_above_idle_w(maker.workload(), 0, group, 0), 5);
  EXPECT_EQ(power_above_idle_w(maker.workload(), 0, group, kNoIndex), 20);
  maker.workload().time_s = {0};  // no time to draw it in
  EXPECT_EQ(power_above_idle_w(maker.workload(), 0, group, 0), 20);
}

TEST(JobPower, GpusCountWhereAJobAsksForThem) {
  WorkloadMaker maker({"A"});
  maker.job(0, 8, {10}).gpus = 1;
  NodeGroup group = nodes("A", 1, 8);
  EXPECT_EQ(nodes_held(maker.workload().jobs[0], group), 1);
  group.gpus_per_node = 4;
  EXPECT_EQ(nodes_held(maker.workload().jobs[0], group), 0.25);
}

}  // namespace
}  // namespace perfcast::fleet
