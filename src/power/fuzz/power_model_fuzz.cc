// Any bytes as a model of power: no crash; one that is read forecasts a table and is written as it was read.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "power/model/power_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const auto json = parse_json(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!json) return 0;
  const auto model = PowerModel::from_json(*json, "fuzz");
  if (!model) return 0;
  PowerTable table;
  table.machines = {"a"};
  table.workloads = {""};
  table.machine = table.workload = {0, 0, 0};
  table.run = {0, 0, 1};
  table.time_s = Eigen::VectorXd::LinSpaced(3, 0, 2);
  table.watts = Eigen::VectorXd::Constant(3, 10);
  const Json& features = json->at("features");
  if (features.contains("counters")) {
    for (const Json& name : features["counters"]) table.counters.push_back(name.get<std::string>());
  }
  table.values = Eigen::MatrixXd::Constant(3, static_cast<Eigen::Index>(table.counters.size()), 0.5);
  static_cast<void>(model->forecast(table));
  const auto again = PowerModel::from_json(model->to_json(), "again");
  if (!again) std::abort();
  return 0;
}
