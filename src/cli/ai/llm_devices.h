#pragma once
// The devices that `perfcast llm` knows, and what the command line says of each.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ai/llm_forecast/device_provider.h"
#include "ai/llm_forecast/forecast_report.h"
#include "ai/llm_forecast/named_devices.h"
#include "base/result.h"

namespace perfcast::cli {

ai::DeviceFiles shipped_devices();

// The shipped catalogue, and before it the devices of `device_file` (empty: none), which take the place of those with
// one of their names. Errors of read_device_catalogue().
Result<std::unique_ptr<ai::DeviceProvider>> open_devices(const std::string& device_file);

// Devices of --on, each once. "bad-usage" where none is named, "unknown-device".
Result<std::vector<ai::ForecastDevice>> chosen_devices(const ai::DeviceProvider& provider,
                                                       const std::vector<std::string>& on);
// DEVICE=VALUE of one device, or VALUE of all; later ones win.
Status take_values(const std::vector<std::string>& given, const char* option, const ai::DeviceProvider& provider,
                   std::vector<ai::ForecastDevice>& devices, double ai::DeviceTerms::*field);
// HOST for all, DEVICE=HOST for one; later ones win.
Status take_hosts(const std::vector<std::string>& hosts, const ai::DeviceProvider& provider,
                  std::vector<ai::ForecastDevice>& devices);

// "1,2,4": whole numbers above 0.
Result<std::vector<int64_t>> counts_of(const std::vector<std::string>& given, const char* option);

}  // namespace perfcast::cli
