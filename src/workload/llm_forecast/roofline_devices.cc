#include "workload/llm_forecast/roofline_devices.h"

#include <algorithm>

#include "base/text.h"
#include "workload/llm_forecast/roofline_model.h"

namespace perfcast {

Result<size_t> find_device(const std::vector<DeviceFacts>& devices, std::string_view name) {
  const std::string wanted = lower_case(trim(name));
  std::vector<std::string> known;
  for (size_t i = 0; i < devices.size(); ++i) {
    known.push_back(devices[i].name);
    known.insert(known.end(), devices[i].aliases.begin(), devices[i].aliases.end());
    const bool is_it = lower_case(devices[i].name) == wanted ||
                       std::any_of(devices[i].aliases.begin(), devices[i].aliases.end(),
                                   [&](const std::string& alias) { return lower_case(alias) == wanted; });
    if (is_it) return i;
  }
  return Error{"unknown-device", "there is no device '" + printable(name) + "'", "",
               known.empty() ? "a catalogue with devices" : "for example " + nearest_names(name, known)};
}

Result<std::shared_ptr<const LatencyModel>> RooflineDevices::find(std::string_view name) const {
  const auto place = find_device(devices_, name);
  if (!place) return place.error();
  return RooflineModel::create(devices_[*place]);
}

std::vector<std::string> RooflineDevices::names() const {
  std::vector<std::string> names;
  names.reserve(devices_.size());
  for (const DeviceFacts& device : devices_) names.push_back(device.name);
  return names;
}

Status RooflineDevices::calibrate(const std::vector<CalibrationRun>& runs) {
  for (const CalibrationRun& run : runs) {
    if (const auto place = find_device(devices_, run.device); !place) {
      Error error = place.error();
      error.where = "line " + std::to_string(run.line);
      return error;
    }
  }
  return Error{"no-calibration", "these devices' models follow from data sheets and learn nothing", "calibration runs",
               "devices with fitted models"};
}

}  // namespace perfcast
