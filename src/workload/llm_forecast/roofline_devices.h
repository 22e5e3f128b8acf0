#pragma once
// Devices of which nothing is known but their data sheets.

#include "workload/latency/model/device_catalogue.h"
#include "workload/llm_forecast/device_provider.h"

namespace perfcast {

// Each device of a catalogue as its RooflineModel.
class RooflineDevices : public DeviceProvider {
 public:
  explicit RooflineDevices(DeviceCatalogue catalogue) : catalogue_(std::move(catalogue)) {}
  Result<std::shared_ptr<const LatencyModel>> find(std::string_view name) const override;
  std::vector<std::string> names() const override;
  Status calibrate(const std::vector<CalibrationRun>& runs) override;

 private:
  DeviceCatalogue catalogue_;
};

}  // namespace perfcast
