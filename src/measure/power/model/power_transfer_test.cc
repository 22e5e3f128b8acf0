#include "measure/power/model/power_transfer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"
#include "base/unknown.h"
#include "measure/power/model/activity_features.h"
#include "measure/power/model/power_model.h"
#include "measure/power/testing/power_world.h"

namespace perfcast::measure {
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

TEST(PowerTransfer, IntervalsCountEachMachineAlike) {
  // Two machines of many even samples, and one of few that swing, as the new one does.
  PowerWorld world;
  world.machines = 4;
  world.rows = 200;
  PowerTable table = world.table();
  Random random(5);
  std::vector<size_t> known, own, kept;
  for (size_t r = 0; r < table.rows(); ++r) {
    if (table.machine[r] >= 2) table.watts(static_cast<Eigen::Index>(r)) *= std::exp(0.2 * random.normal());
    if (table.machine[r] != 2 || r % 20 == 0) kept.push_back(r);
  }
  table = table_part(table, kept);
  for (size_t r = 0; r < table.rows(); ++r) (table.machine[r] == 3 ? own : known).push_back(r);
  const PowerSamples samples =
      PowerSamples::of(ActivityFeatures::learn(table, all_rows(table), ActivitySet::kLoad).design(table), known);
  PowerTransfer::Request request;
  request.known = known;
  request.samples = 10;
  const PowerTransfer transfer = PowerTransfer::learn(samples, request);
  const auto forecast = transfer.forecast(drawn_samples(samples.design, own, 10, 3), own);
  double covered = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    const double watts = table.watts(static_cast<Eigen::Index>(own[i]));
    const auto at = static_cast<Eigen::Index>(i);
    covered += watts >= forecast.lower(at) && watts <= forecast.upper(at) ? 1 : 0;
  }
  EXPECT_GE(covered / static_cast<double>(own.size()), 0.9);
}

TEST(PowerTransfer, ASampleWithoutAPowerTellsNothing) {
  const NewMachine machine;
  PowerSamples samples = machine.samples;
  PowerTransfer::Request request;
  request.known = machine.known;
  request.samples = 5;
  const PowerTransfer transfer = PowerTransfer::learn(samples, request);
  std::vector<size_t> given = drawn_samples(samples.design, machine.own, 5, 1);
  const size_t silent = machine.own.back();
  samples.target(static_cast<Eigen::Index>(silent)) = kUnknown;
  given.erase(std::remove(given.begin(), given.end(), silent), given.end());
  given.push_back(silent);
  EXPECT_TRUE(transfer.update(given).coefficients.allFinite());
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
}  // namespace perfcast::measure
