#pragma once
// The devices that `perfcast llm forecast` knows.

#include <memory>
#include <string>

#include "base/result.h"
#include "workload/llm_forecast/device_provider.h"

namespace perfcast {

// The shipped catalogue, and before it the devices of `device_file` (empty: none), which take the place of those with
// one of their names. Errors of read_device_catalogue().
Result<std::unique_ptr<DeviceProvider>> open_devices(const std::string& device_file);

}  // namespace perfcast
