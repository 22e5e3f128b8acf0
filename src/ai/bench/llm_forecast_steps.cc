#include "ai/bench/llm_forecast_steps.h"

#include <utility>

#include "ai/llm_forecast/llm_forecast.h"
#include "ai/llm_forecast/roofline_model.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

DeviceFacts device_of(const HostRates& rates) {
  DeviceFacts device;
  device.name = rates.cpu.empty() ? "this machine" : rates.cpu;
  device.kind = DeviceKind::kCpu;
  device.units = rates.threads;
  device.memory_bytes_per_s = rates.memory_bytes_per_s();
  device.peak_flops[static_cast<size_t>(MathMode::kFp32)] = rates.fp32_flops_per_s;
  device.peak_flops[static_cast<size_t>(MathMode::kInt8)] = rates.int8_ops_per_s;
  return device;
}

}  // namespace

Result<std::vector<LlmForecastStep>> llm_forecast_steps(const TransformerComparison& comparison,
                                                        const ComparedTransformer& model) {
  auto roofline = RooflineModel::create(device_of(comparison.facts));
  if (!roofline) return roofline.error();
  auto forecaster = LlmForecaster::create(model.config, std::move(*roofline));
  if (!forecaster) return forecaster.error();
  LlmRequest request;
  request.sequence = comparison.request.prompt_tokens;
  request.output_tokens = comparison.request.new_tokens;
  request.weights = request.activations = comparison.request.precision;
  request.kv = Precision::kFp32;
  std::vector<LlmForecastStep> steps;
  steps.reserve(model.steps.size());
  for (const ComparedStep& compared : model.steps) {
    request.batch = compared.point.batch;
    LlmForecast forecast;
    if (Status done = forecaster->forecast(request, forecast); !done) return done.error();
    const StepTime& time = compared.point.phase == LlmPhase::kDecode ? forecast.token : forecast.prefill;
    steps.push_back({compared.point.phase, compared.point.batch, time.seconds, time.lower_s(kInterval90),
                     time.upper_s(kInterval90), compared.measured_s});
  }
  return steps;
}

Json to_json(const LlmForecastStep& step) {
  return {{"phase", step.phase == LlmPhase::kDecode ? "decode" : "prefill"},
          {"batch", step.batch},
          {"forecast_s", step.forecast_s},
          {"lower_s", step.lower_s},
          {"upper_s", step.upper_s},
          {"measured_s", step.measured_s},
          {"outside", step.outside()}};
}

}  // namespace perfcast::ai
