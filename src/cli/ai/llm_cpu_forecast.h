#pragma once
// The table, CSV or JSON of a language model on CPUs.

#include <string>

#include "ai/llm/model_config.h"
#include "ai/llm_forecast/cpu_forecast.h"
#include "base/result.h"

namespace perfcast::cli {

enum class CpuForecastFormat { kText, kJson, kCsv };

// By the shipped bundle. Errors of forecast_on_cpus() and of the bundle; "unknown-cpu" and "bad-vcpus" at --cpu.
Result<std::string> cpu_forecast(const ai::LlmConfig& config, const ai::CpuForecastRequest& request,
                                 CpuForecastFormat format);

}  // namespace perfcast::cli
