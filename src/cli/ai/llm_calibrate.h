#pragma once
// What a user measured on devices: --calibrate of perfcast llm forecast.

#include <string>
#include <vector>

#include "ai/llm_forecast/device_provider.h"
#include "base/result.h"

namespace perfcast::cli {

// A file of timed products, or a folder of tables of measured kernels; empty: none. The devices that it speaks of.
// Notes of how it was read, and of what was left out of it, go to standard error unless `quiet`.
Result<std::vector<std::string>> calibrate_devices(ai::DeviceProvider& provider, const std::string& path, bool quiet);

}  // namespace perfcast::cli
