#include "workload/llm_forecast/roofline_devices.h"

#include "workload/llm_forecast/roofline_model.h"

namespace perfcast {

Result<std::shared_ptr<const LatencyModel>> RooflineDevices::find(std::string_view name) const {
  const auto device = find_device(catalogue_, name);
  if (!device) return device.error();
  return RooflineModel::create(**device);
}

std::vector<std::string> RooflineDevices::names() const {
  std::vector<std::string> names;
  names.reserve(catalogue_.devices.size());
  for (const DeviceFacts& device : catalogue_.devices) names.push_back(device.name);
  return names;
}

Status RooflineDevices::calibrate(const std::vector<CalibrationRun>& runs) {
  for (const CalibrationRun& run : runs) {
    if (const auto device = find_device(catalogue_, run.device); !device) {
      Error error = device.error();
      error.where = "line " + std::to_string(run.line);
      return error;
    }
  }
  return Error{"no-calibration", "these devices' models follow from data sheets and learn nothing", "",
               "devices with fitted models"};
}

}  // namespace perfcast
