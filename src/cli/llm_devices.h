#pragma once
// The devices that `perfcast llm forecast` knows.

#include <memory>
#include <string>

#include "base/result.h"
#include "workload/llm_forecast/device_provider.h"

namespace perfcast {

// The shipped catalogue, and the devices of `device_file` (empty: none), which go first where a name is the same.
Result<std::unique_ptr<DeviceProvider>> open_devices(const std::string& device_file);

}  // namespace perfcast
