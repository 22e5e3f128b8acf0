#pragma once
// Devices of which nothing is known but their data sheets.

#include <vector>

#include "workload/llm_forecast/device_provider.h"

namespace perfcast {

// The place of `name` among `devices`, by name or alias, case-insensitive; "unknown-device" with the nearest names.
Result<size_t> find_device(const std::vector<DeviceFacts>& devices, std::string_view name);

// Each device as its RooflineModel.
class RooflineDevices : public DeviceProvider {
 public:
  explicit RooflineDevices(std::vector<DeviceFacts> devices) : devices_(std::move(devices)) {}
  Result<std::shared_ptr<const LatencyModel>> find(std::string_view name) const override;
  std::vector<std::string> names() const override;
  Status calibrate(const std::vector<CalibrationRun>& runs) override;

 private:
  std::vector<DeviceFacts> devices_;
};

}  // namespace perfcast
