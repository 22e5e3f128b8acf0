#include "cli/ai/llm_cpu_forecast.h"

#include <fmt/format.h>

#include <algorithm>

#include "ai/cpu_tokens/token_bundle.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"

namespace perfcast::cli {
namespace {

std::string text_of(const ai::LlmConfig& config, const ai::CpuForecast& forecast,
                    const ai::CpuForecastRequest& request) {
  const bool imputed = std::ranges::any_of(
      forecast.rows, [](const ai::CpuForecastRow& row) { return row.generation.bandwidth_imputed; });
  std::string text = fmt::format("{}: weights {}, {} read for a token; {} new tokens, one sequence, llama.cpp\n\n{}",
                                 forecast.work.name, forecast.weights, human_bytes(forecast.work.weight_bytes),
                                 request.output_tokens, ai::cpu_forecast_rows_text(forecast));
  if (imputed) text += "\nnote: bandwidth of some of these machines was not measured; it is that of their kin\n";
  for (const std::string& note : config.notes) text += "\nnote: " + note + "\n";
  return text;
}

}  // namespace

Result<std::string> cpu_forecast(const ai::LlmConfig& config, const ai::CpuForecastRequest& request,
                                 CpuForecastFormat format) {
  const auto bundle = ai::read_token_bundle(shipped_file("bundles/cpu-tokens.json"));
  if (!bundle) return bundle.error();
  const auto forecast = ai::forecast_on_cpus(*bundle, config, request);
  if (!forecast) {
    Error error = forecast.error();
    const bool of_the_cpu = error.code == "unknown-cpu" || error.code == "bad-vcpus";
    if (of_the_cpu && error.where.empty()) error.where = "--cpu";
    return error;
  }
  switch (format) {
    case CpuForecastFormat::kJson:
      return to_text(ai::cpu_forecast_json(*forecast));
    case CpuForecastFormat::kCsv:
      return ai::cpu_forecast_csv(*forecast);
    case CpuForecastFormat::kText:
      break;
  }
  return text_of(config, *forecast, request);
}

}  // namespace perfcast::cli
