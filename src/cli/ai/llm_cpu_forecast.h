#pragma once
// The table, CSV or JSON of a language model on CPUs.

#include <optional>
#include <string>
#include <vector>

#include "ai/engine/cpu_engine_profile.h"
#include "ai/llm/model_config.h"
#include "ai/llm_forecast/cpu_forecast.h"
#include "ai/llm_forecast/device_provider.h"
#include "base/result.h"
#include "machine/facts/platform.h"

namespace perfcast::cli {

enum class CpuForecastFormat { kText, kJson, kCsv };
inline constexpr const char* kCpuEngine = "llama.cpp";  // by `--cpu`, unless another is named

struct CpuForecastRun {
  std::optional<ai::CpuEngineProfile> engine;  // empty: llama.cpp
  ai::CpuForecast forecast;
};
// By the shipped bundles, under the engine of that name, whatever the request's own is. Errors of forecast_on_cpus()
// and of the bundles; "unknown-engine"; "unknown-cpu" and "bad-vcpus" at `option`, which named the CPUs.
Result<CpuForecastRun> run_cpu_forecast(const ai::LlmConfig& config, ai::CpuForecastRequest request,
                                        const std::string& engine, const char* option);
// As text in one of the formats.
Result<std::string> cpu_forecast(const ai::LlmConfig& config, ai::CpuForecastRequest request, const std::string& engine,
                                 const char* option, CpuForecastFormat format);

// A CPU that programs are forecast on, and whose bandwidth nobody measured: what its platform tells. Of `vcpus`; not
// known: of one chip. "bad-vcpus" where its size is not known, or a desktop's is exceeded.
Result<ai::CpuFacts> facts_of_platform(const Platform& platform, double vcpus);

// US dollars per hour: "EPYC 7763=1.2", one of the request's CPUs, or one number for all. "bad-usage".
Status take_cpu_prices(const std::vector<std::string>& given, ai::CpuForecastRequest& request);

// Whether these names are CPUs that are known, and none a device. "bad-usage" where they are both.
Result<bool> are_cpus(const std::vector<std::string>& names, const ai::DeviceProvider& provider);

}  // namespace perfcast::cli
