#include "cli/llm_devices.h"

#include "workload/llm_forecast/roofline_devices.h"

namespace perfcast {

Result<std::unique_ptr<DeviceProvider>> open_devices(const std::string& device_file) {
  // Place of the catalogue (data/devices/devices.json) and its fitted models.
  if (!device_file.empty()) {
    return Error{"bad-usage", "device files can't be read yet", "--device-file", "a build with the device catalogue"};
  }
  return std::unique_ptr<DeviceProvider>(std::make_unique<RooflineDevices>(std::vector<DeviceFacts>()));
}

}  // namespace perfcast
