#include "measure/power/model/unseen_settings.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "measure/power/testing/power_world.h"

namespace perfcast::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PowerTable named(const std::vector<std::string>& names) {
  PowerWorld world;
  world.machines = static_cast<int>(names.size());
  PowerTable table = world.table();
  table.machines = names;
  return table;
}

PowerModel known_of(const PowerTable& table) {
  PowerModelOptions options;
  options.forms = {PowerFormKind::kSharedLine};
  options.sets = {ActivitySet::kLoad};
  auto model = PowerModel::fit(table, all_rows(table), options);
  if (!model) throw std::runtime_error(to_text(model.error()));
  return std::move(*model);
}

void set_clock(PowerTable& table, double low_hz, double high_hz) {
  const auto n = static_cast<Eigen::Index>(table.rows());
  table.frequency_hz.resize(n);
  for (Eigen::Index r = 0; r < n; ++r) table.frequency_hz(r) = r % 2 == 0 ? low_hz : high_hz;
}

// The model as it was read from a file that doesn't tell settings.
PowerModel without_settings(const PowerModel& model) {
  Json json = model.to_json();
  json.erase("settings");
  auto read = PowerModel::from_json(json, "m");
  if (!read) throw std::runtime_error(to_text(read.error()));
  return std::move(*read);
}

TEST(UnseenSettings, ComparesMachinesWhole) {
  const PowerModel model = known_of(named({"node10", "node2"}));
  for (const PowerModel& one : {model, without_settings(model)}) {
    EXPECT_THAT(unseen_settings(one, named({"node10"})), IsEmpty());
    EXPECT_THAT(unseen_settings(one, named({"node1"})),
                ElementsAre(HasSubstr("the model has no samples of node1: what its machines share")));
  }
}

TEST(UnseenSettings, SaysThatSamplesDoNotNameTheirMachine) {
  EXPECT_THAT(unseen_settings(known_of(named({"a", "b"})), named({""})),
              ElementsAre(HasSubstr("don't say their machine, of which the model has 2 (a, b)")));
  EXPECT_THAT(unseen_settings(known_of(named({""})), named({""})), IsEmpty());
}

TEST(UnseenSettings, NamesOtherSettingsOfAKnownMachine) {
  PowerTable known = named({"node1"}), other = known;
  set_clock(known, 1e9, 2e9);
  set_clock(other, 1e9, 1.8e9);
  const PowerModel model = known_of(known);
  for (const PowerModel& one : {model, without_settings(model)}) {
    EXPECT_THAT(unseen_settings(one, known), IsEmpty());
    EXPECT_THAT(unseen_settings(one, other),
                ElementsAre(HasSubstr("no samples at 1 setting (machine, frequency, cores): node1 1800 MHz:")));
  }
}

TEST(UnseenSettings, RowsWithoutPowerAreNoSamples) {
  PowerTable table = named({"a", "b"});
  for (size_t r = 0; r < table.rows(); ++r) {
    if (table.machine[r] == 1) table.watts(static_cast<Eigen::Index>(r)) = std::nan("");
  }
  EXPECT_THAT(unseen_settings(known_of(table), named({"a", "b"})), ElementsAre(HasSubstr("no samples of b")));
}

}  // namespace
}  // namespace perfcast::measure
