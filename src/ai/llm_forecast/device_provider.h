#pragma once
// Where latency models of named devices come from.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ai/latency/kernels/kernel_database.h"
#include "ai/latency/model/operator_time.h"
#include "ai/llm_forecast/calibration_runs.h"
#include "base/result.h"

namespace perfcast::ai {

class DeviceProvider {
 public:
  virtual ~DeviceProvider() = default;
  // By name or alias, case-insensitive. "unknown-device" with the nearest names.
  virtual Result<std::shared_ptr<const LatencyModel>> find(std::string_view name) const = 0;
  // One name of each device, in the order of the catalogue.
  virtual std::vector<std::string> names() const = 0;
  // Times measured by the user; models found from now on are fitted to them. "unknown-device" names the row's device,
  // "no-calibration" where this provider can't learn.
  virtual Status calibrate(const std::vector<CalibrationRun>& runs) = 0;
  // Kernels measured by the user. What can't be used is left out of it and counted: systems that are no device here,
  // times that the device's facts rule out. "bad-calibration" where most times of a device and operator are ruled out,
  // as in another unit; "no-kernels" where nothing is left.
  virtual Status calibrate_kernels(KernelDatabase& database) = 0;
};

}  // namespace perfcast::ai
