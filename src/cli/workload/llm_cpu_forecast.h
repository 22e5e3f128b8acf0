#pragma once
// The table, CSV or JSON of a language model on CPUs.

#include <string>

#include "base/result.h"
#include "workload/llm/model_config.h"
#include "workload/llm_forecast/cpu_forecast.h"

namespace perfcast {

enum class CpuForecastFormat { kText, kJson, kCsv };

// By the shipped bundle. Errors of forecast_on_cpus() and of the bundle; "unknown-cpu" and "bad-vcpus" at --cpu.
Result<std::string> cpu_forecast(const LlmConfig& config, const CpuForecastRequest& request, CpuForecastFormat format);

}  // namespace perfcast
