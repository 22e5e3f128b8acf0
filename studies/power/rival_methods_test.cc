#include "studies/power/rival_methods.h"

#include <gtest/gtest.h>

#include "measure/power/testing/power_world.h"

namespace perfcast::measure::power_study {
namespace {

TEST(RivalMethods, AreBetterThanTheMeanPower) {
  PowerWorld world;
  world.machines = 2;
  world.rows = 40;
  const PowerTable table = world.table();
  LeftOutRequest request;
  request.scored = [](const std::string& workload) { return workload == "workload 2"; };
  const auto error = [&](const PowerMethod& method) {
    const auto scores = leave_workloads_out(table, request, "rival", method);
    return scores ? scores->error() : 1.0;
  };
  const double mean = error(mean_power());
  EXPECT_LT(error(random_forest_method()), mean);
  EXPECT_LT(error(dense_network_method(false)), mean);
  EXPECT_LT(error(dense_network_method(true)), mean);
}

}  // namespace
}  // namespace perfcast::measure::power_study
