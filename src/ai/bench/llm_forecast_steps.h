#pragma once
// What `perfcast llm forecast` says of the steps of a transformer that were compared (transformer_comparison.h): its
// roofline at fixed shares, of a device with the bandwidth and the peaks that were measured here. It learns nothing of
// this machine beside those.

#include <cstdint>
#include <vector>

#include "ai/transformer_forecast/transformer_comparison.h"
#include "base/report/table.h"
#include "base/result.h"

namespace perfcast::ai {

struct LlmForecastStep {
  LlmPhase phase = LlmPhase::kPrefill;
  int64_t batch = 1;
  double forecast_s = 0, lower_s = 0, upper_s = 0, measured_s = 0;  // 90%

  double error() const { return forecast_s / measured_s - 1; }
  bool outside() const { return measured_s < lower_s || measured_s > upper_s; }
};

// One for each step of the model. Weights and inputs in the comparison's precision, keys and values in fp32, as the
// transformer has them. "bad-device" where no bandwidth or peak was measured; errors of LlmForecaster.
Result<std::vector<LlmForecastStep>> llm_forecast_steps(const TransformerComparison& comparison,
                                                        const ComparedTransformer& model);

ReportTable llm_steps_table(const std::vector<LlmForecastStep>& steps);

}  // namespace perfcast::ai
