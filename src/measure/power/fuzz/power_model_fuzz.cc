// Any bytes as a model of power: no crash; one that is read forecasts tables with and without settings, with numbers or
// an error, and is written as it was read.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/unknown.h"
#include "measure/power/model/power_model.h"
#include "measure/power/model/unseen_settings.h"

namespace {

constexpr int kRows = 4;

// `settings`: which of frequency, voltage, temperature and cores it has, a bit each; the next: one of them is absent.
perfcast::measure::PowerTable table_of(const perfcast::measure::PowerModel& model, unsigned settings) {
  using namespace perfcast;
  using namespace perfcast::measure;
  PowerTable table;
  table.machines = {"a", "b"};
  if (!model.settings().empty()) table.machines[0] = model.settings().front().machine;
  table.workloads = {""};
  table.machine = {0, 0, 0, 1};
  table.workload = {0, 0, 0, 0};
  table.run = {0, 0, 1, 2};
  table.time_s = Eigen::VectorXd::LinSpaced(kRows, 0, kRows - 1);
  table.watts = Eigen::VectorXd::Constant(kRows, 10);
  table.counters = model.features().counters();
  table.values = Eigen::MatrixXd::Constant(kRows, static_cast<Eigen::Index>(table.counters.size()), 0.5);
  if (table.values.cols() > 0) table.values(1, 0) = kUnknown;
  if (settings & 1U) table.frequency_hz = Eigen::Vector4d(1e9, 2e9, 2e9, 1e9);
  if (settings & 2U) table.voltage_v = Eigen::Vector4d(0.8, 1, 1, 0.8);
  if (settings & 4U) table.temperature_c = Eigen::Vector4d(40, 50, kUnknown, 40);
  if (settings & 8U) table.cores = Eigen::Vector4d(1, 2, 2, 4);
  if (settings & 16U) {
    for (Eigen::VectorXd* column : {&table.frequency_hz, &table.voltage_v, &table.cores}) {
      if (column->size() > 0) (*column)(2) = kUnknown;
    }
  }
  return table;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::measure;
  const auto json = parse_json(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!json) return 0;
  const auto model = PowerModel::from_json(*json, "fuzz");
  if (!model) return 0;
  for (unsigned settings = 0; settings < 32; ++settings) {
    const PowerTable table = table_of(*model, settings);
    static_cast<void>(unseen_settings(*model, table));
    const auto forecast = model->forecast(table);
    if (!forecast) continue;
    for (const double watts : forecast->watts) {
      if (!(watts > 0) || !std::isfinite(watts)) std::abort();
    }
  }
  const auto again = PowerModel::from_json(model->to_json(), "again");
  if (!again) std::abort();
  return 0;
}
