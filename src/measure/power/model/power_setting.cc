#include "measure/power/model/power_setting.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/statistics.h"

namespace perfcast::measure {

std::vector<PowerSetting> settings_of(const PowerTable& table, const std::vector<size_t>& which,
                                      const PowerDesign& design) {
  std::vector<PowerSetting> settings(design.groups.size());
  std::vector<std::vector<size_t>> rows(design.groups.size());
  for (const size_t r : which) rows[static_cast<size_t>(design.group[r])].push_back(r);
  for (size_t g = 0; g < settings.size(); ++g) {
    const auto middle = [&](const Eigen::VectorXd& values) -> std::optional<double> {
      std::vector<double> known;
      for (const size_t r : rows[g]) {
        if (values.size() > 0 && !std::isnan(values(static_cast<Eigen::Index>(r))))
          known.push_back(values(static_cast<Eigen::Index>(r)));
      }
      if (known.empty()) return std::nullopt;
      return median(std::move(known));
    };
    PowerSetting& setting = settings[g];
    if (!rows[g].empty()) setting.machine = table.machines[static_cast<size_t>(table.machine[rows[g].front()])];
    setting.frequency_hz = middle(table.frequency_hz);
    setting.voltage_v = middle(table.voltage_v);
    setting.temperature_c = middle(table.temperature_c);
    setting.cores = middle(table.cores);
  }
  return settings;
}

Json settings_json(const std::vector<PowerSetting>& settings) {
  Json list = Json::array();
  for (const PowerSetting& setting : settings) {
    Json item = {{"machine", setting.machine}};
    for (const auto& [key, value] : {std::pair{"frequency_hz", setting.frequency_hz},
                                     {"voltage_v", setting.voltage_v},
                                     {"temperature_c", setting.temperature_c},
                                     {"cores_count", setting.cores}}) {
      if (value) item[key] = *value;
    }
    list.push_back(std::move(item));
  }
  return list;
}

Result<std::vector<PowerSetting>> settings_from_json(const Json& list, size_t groups, const std::string& source) {
  std::vector<PowerSetting> settings;
  if (list.size() != groups) {
    return Error{"bad-json-field", "another number of settings than of groups", source + ".settings",
                 "one for each group, or none at all"};
  }
  settings.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    JsonReader entry(list[i], fmt::format("{}.settings[{}]", source, i));
    PowerSetting setting;
    setting.machine = entry.string("machine");
    setting.frequency_hz = entry.optional_number("frequency_hz");
    setting.voltage_v = entry.optional_number("voltage_v");
    setting.temperature_c = entry.optional_number("temperature_c");
    setting.cores = entry.optional_number("cores_count");
    for (const auto& [key, value] : {std::pair{"frequency_hz", setting.frequency_hz},
                                     {"voltage_v", setting.voltage_v},
                                     {"cores_count", setting.cores}}) {
      if (value && !(*value > 0)) entry.complain(key, "a number that is not above 0", "a number above 0");
    }
    if (Status done = entry.finish(); !done) return done.error();
    settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace perfcast::measure
