#include "ai/bench/llm_forecast_steps.h"

#include <fmt/format.h>

#include <utility>

#include "ai/llm_forecast/llm_forecast.h"
#include "ai/llm_forecast/roofline_model.h"
#include "base/text.h"

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

ReportTable llm_steps_table(const std::vector<LlmForecastStep>& steps) {
  using enum Quantity;
  using Step = LlmForecastStep;
  const auto time = [](const char* name, const char* title, double Step::*of) {
    return ColumnOf<Step>(name, title, kSeconds, of, [of](const Step& step) { return human_seconds(step.*of); });
  };
  return table_of<Step>(
      "", steps,
      {{"phase", "step", kText, [](const Step& step) { return step.phase == LlmPhase::kDecode ? "decode" : "prefill"; },
        [](const Step& step) { return step.phase == LlmPhase::kDecode ? "a token" : "a prompt"; }},
       {"batch", "batch", kCount, &Step::batch},
       time("forecast_s", "llm forecast", &Step::forecast_s),
       {"", "90% interval", kNumber,
        [](const Step& step) { return human_seconds(step.lower_s) + " .. " + human_seconds(step.upper_s); }},
       time("lower_s", "", &Step::lower_s),
       time("upper_s", "", &Step::upper_s),
       time("measured_s", "measured", &Step::measured_s),
       {"", "off by", kNumber, [](const Step& step) { return fmt::format("{:+.1f}%", 100 * step.error()); }},
       {"outside", " ", kText, &Step::outside, [](const Step& step) { return step.outside() ? "outside" : ""; }}});
}

}  // namespace perfcast::ai
