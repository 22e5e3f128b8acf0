#include "power/model/power_transfer.h"

#include <gtest/gtest.h>

#include <set>

#include "power/model/activity_features.h"
#include "power/model/power_model.h"
#include "power/testing/power_world.h"

namespace perfcast {
namespace {

struct NewMachine {
  PowerSamples samples;
  std::vector<size_t> known, own;
  NewMachine() {
    PowerWorld world;
    world.machines = 4;
    const PowerTable table = world.table();
    const std::vector<size_t> all = all_rows(table);
    samples = PowerSamples::of(ActivityFeatures::learn(table, all, ActivitySet::kLoad).design(table), all);
    for (const size_t r : all) (samples.design.group[r] == 3 ? own : known).push_back(r);
  }
  double error(TransferMethod method, size_t count) const {
    PowerTransfer::Request request;
    request.known = known;
    request.samples = count;
    request.method = method;
    const PowerTransfer transfer = PowerTransfer::learn(samples, request);
    const auto forecast = transfer.forecast(drawn_samples(samples.design, own, count, 7), own);
    return cell_error(samples.design, own, forecast.watts);
  }
};

TEST(PowerTransfer, AFewSamplesAreEnough) {
  const NewMachine machine;
  const double none = machine.error(TransferMethod::kUpdated, 0), five = machine.error(TransferMethod::kUpdated, 5);
  EXPECT_GT(none, 0.1);  // its idle power is above that of all others
  EXPECT_LT(five, 0.05);
  EXPECT_LT(machine.error(TransferMethod::kUpdated, 20), 0.03);
  EXPECT_LT(machine.error(TransferMethod::kShifted, 5), none);
  EXPECT_LT(five, machine.error(TransferMethod::kAlone, 5));
}

TEST(PowerTransfer, DrawsEachSampleOnceAndByTheSeed) {
  const NewMachine machine;
  const std::vector<size_t> drawn = drawn_samples(machine.samples.design, machine.own, 40, 1);
  EXPECT_EQ(std::set<size_t>(drawn.begin(), drawn.end()).size(), 40U);
  EXPECT_EQ(drawn, drawn_samples(machine.samples.design, machine.own, 40, 1));
  EXPECT_NE(drawn, drawn_samples(machine.samples.design, machine.own, 40, 2));
  EXPECT_EQ(drawn_samples(machine.samples.design, {3, 4}, 10, 1).size(), 2U);
}

}  // namespace
}  // namespace perfcast
