#pragma once
// Devices, engines and hosts of language models as people name them, from the shipped files.

#include <memory>
#include <string>
#include <vector>

#include "ai/engine/engine_bundle.h"
#include "ai/llm_forecast/device_provider.h"
#include "ai/llm_forecast/forecast_report.h"
#include "base/result.h"

namespace perfcast::ai {

inline constexpr const char* kNoEngine = "none";

// Paths of what is known of devices: facts, and what was learned of them.
struct DeviceFiles {
  std::string catalogue, gpu_latency, half_precision, kernels;
};

// The catalogue, and before it the devices of `own_file` (empty: none), which take the place of those with one of their
// names. Errors of read_device_catalogue() and of the readers of the other files.
Result<std::unique_ptr<DeviceProvider>> open_devices(const DeviceFiles& files, const std::string& own_file = "");

// Each once, in this order. "unknown-device" at "on", if the provider says nothing else.
Result<std::vector<ForecastDevice>> named_devices(const DeviceProvider& provider,
                                                  const std::vector<std::string>& names);

// The name by which the provider has the device. "unknown-device" at `where`.
Result<std::string> device_name(const DeviceProvider& provider, const std::string& name, const std::string& where);

// The engine of that name; its host isn't known yet. Without a profile for "none". "unknown-engine" at "engine" names
// all.
Result<EngineTerms> engine_named(const EngineBundle& bundle, const std::string& name);

// A host by its CPU's name, or by an instance type's: "EPYC 7R32", "g5.xlarge", "aws g5.xlarge". "unknown-cpu" at
// "host".
Result<EngineHost> host_named(const EngineBundle& bundle, const std::string& name);

}  // namespace perfcast::ai
