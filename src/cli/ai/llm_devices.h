#pragma once
// The devices that `perfcast llm forecast` knows.

#include <memory>
#include <string>

#include "ai/llm_forecast/device_provider.h"
#include "base/result.h"

namespace perfcast::cli {

// The shipped catalogue, and before it the devices of `device_file` (empty: none), which take the place of those with
// one of their names. Errors of read_device_catalogue().
Result<std::unique_ptr<ai::DeviceProvider>> open_devices(const std::string& device_file);

}  // namespace perfcast::cli
