#pragma once
// What forecasts of engines are held against.

#include <string>
#include <vector>

#include "ai/engine/engine_fit.h"
#include "ai/llm_forecast/device_provider.h"
#include "base/result.h"
#include "base/unknown.h"
#include "studies/engines/engine_evaluation.h"

namespace perfcast::ai::engines_study {

struct BaselineForecast {
  EngineRowForecast times;                    // NaN: none
  double token_log_sd = 0, first_log_sd = 0;  // as the forecast states them
};

// The sum of kernels: prefill for the first token, a step at the mean context for each further one.
BaselineForecast kernels_alone(const EngineRow& row, const DeviceProvider& devices);

// t = a + b x layers + weight bytes / (bandwidth x e) + cache bytes x c, of first tokens a + b x layers + FLOP / (peak
// x e) + prompt tokens x c: fitted to the rows with `use` by least squares of logs, each combination weighing 1.
// Seconds of every row.
Result<std::vector<double>> four_constants(const std::vector<EngineRow>& rows, const std::vector<bool>& use,
                                           EngineTarget target);

// Geometric mean of the other servers' rows of the same device, model, prompt and degree; NaN where there are none.
std::vector<double> other_servers(const std::vector<EngineRow>& rows, EngineTarget target);

}  // namespace perfcast::ai::engines_study
