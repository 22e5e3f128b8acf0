// Any bytes as a few samples of power: no crash; what is read makes inputs and, where it is enough, models, which are
// read back and whose forecasts are numbers.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "measure/power/model/power_model.h"
#include "measure/power/model/power_phases.h"
#include "measure/power/model/unseen_settings.h"
#include "measure/power/table/power_table.h"

namespace {

constexpr size_t kMostRows = 200, kMostColumns = 16;

void check_model(const perfcast::measure::PowerModel& model, const perfcast::measure::PowerTable& table) {
  using namespace perfcast;
  using namespace perfcast::measure;
  const auto again = PowerModel::from_json(model.to_json(), "again");
  if (!again) std::abort();
  static_cast<void>(unseen_settings(*again, table));
  const auto forecast = model.forecast(table);
  if (!forecast) return;
  if (!(forecast->watts.array() > 0).all() || !forecast->watts.allFinite()) std::abort();
  size_t rows = 0;
  for (const PowerPhase& phase : power_phases(table, forecast->watts, {})) rows += phase.to - phase.from;
  if (rows != table.rows()) std::abort();
}

void check_table(const perfcast::measure::PowerTable& table) {
  using namespace perfcast;
  using namespace perfcast::measure;
  for (const ActivitySet set :
       {ActivitySet::kLoad, ActivitySet::kCounters, ActivitySet::kHistory, ActivitySet::kPlain}) {
    const PowerDesign design = ActivityFeatures::learn(table, all_rows(table), set).design(table);
    if (design.size() != table.rows() || !design.log_scale.allFinite()) std::abort();
    for (const int group : design.group) {
      if (group < 0 || static_cast<size_t>(group) >= design.groups.size()) std::abort();
    }
  }
  PowerModelOptions options;
  options.forms = {PowerFormKind::kSharedLine, PowerFormKind::kNonnegative, PowerFormKind::kLeastSquares};
  if (const auto model = PowerModel::fit(table, all_rows(table), options)) check_model(*model, table);
  NewMachineOptions of_new;
  of_new.machine = table.machines.back();
  if (const auto model = PowerModel::fit_new_machine(table, of_new)) check_model(*model, table);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::measure;
  PowerTableOptions options;
  options.most_rows = kMostRows;
  options.most_columns = kMostColumns;
  PowerTableNotes notes;
  const auto table =
      read_power_table(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz", options, notes);
  if (table) check_table(*table);
  return 0;
}
