#include "cli/ai/llm_cpu_forecast.h"

#include <fmt/format.h>

#include <vector>

#include "ai/cpu_tokens/token_bundle.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"

namespace perfcast::cli {
namespace {

std::string fits_text(const ai::CpuForecastRow& row) {
  if (!row.generation.fits_memory) return "?";
  return *row.generation.fits_memory ? "yes" : "no";
}

std::string text_of(const ai::CpuForecast& forecast, const ai::CpuForecastRequest& request) {
  const std::vector<ai::CpuForecastRow>& rows = forecast.rows;
  TextTable table;
  table.add_column("CPU", TextTable::Align::kLeft);
  for (const char* name : {"vCPUs", "prompt", "first token", "per token", "tokens/s", "90% interval"}) {
    table.add_column(name, TextTable::Align::kRight);
  }
  for (const char* name : {"bound", "fits"}) table.add_column(name, TextTable::Align::kLeft);
  std::vector<double> first_s, next_s;
  for (const ai::CpuForecastRow& row : rows) {
    first_s.push_back(row.prefill_s());
    next_s.push_back(row.token_s());
  }
  const std::vector<std::string> first = seconds_column(first_s), next = seconds_column(next_s);
  bool imputed = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    const ai::CpuForecastRow& row = rows[i];
    imputed |= row.generation.bandwidth_imputed;
    table.add_row({row.cpu.name, fmt::format("{:.0f}", row.cpu.vcpus), fmt::format("{}", row.sequence), first[i],
                   next[i], fmt::format("{:.3g}", row.generation.tokens_per_s),
                   fmt::format("{:.3g} to {:.3g}", row.generation.low, row.generation.high), row.bound(),
                   fits_text(row)});
  }
  std::string text = fmt::format("{}: weights {}, {} read for a token; {} new tokens, one sequence, llama.cpp\n\n{}",
                                 forecast.work.name, ai::info(forecast.weights).name,
                                 human_bytes(forecast.work.weight_bytes), request.output_tokens, table.to_text());
  if (imputed) text += "\nnote: bandwidth of some of these machines was not measured; it is that of their kin\n";
  return text;
}

std::string csv_of(const std::vector<ai::CpuForecastRow>& rows) {
  std::string text = "device,vcpus,calibrated,batch,sequence,prefill_s,token_s,tokens_per_s,lower,upper,bound\n";
  for (const ai::CpuForecastRow& row : rows) {
    text += csv_line({row.cpu.name, csv_number(row.cpu.vcpus), row.generation.bandwidth_imputed ? "false" : "true", "1",
                      fmt::format("{}", row.sequence), csv_number(row.prefill_s()), csv_number(row.token_s()),
                      csv_number(row.generation.tokens_per_s), csv_number(row.generation.low),
                      csv_number(row.generation.high), row.bound()});
  }
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
      return csv_of(forecast->rows);
    case CpuForecastFormat::kText:
      break;
  }
  return text_of(*forecast, request);
}

}  // namespace perfcast::cli
