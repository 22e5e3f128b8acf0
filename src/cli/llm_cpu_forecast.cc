#include "cli/llm_cpu_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "workload/cpu_tokens/token_bundle.h"
#include "workload/llm_forecast/cpu_work.h"

namespace perfcast {
namespace {

struct CpuRow {
  CpuFacts cpu;
  int64_t sequence = 0;
  TokenForecast prefill, generation;
};

std::string bound_of(const TokenForecast& forecast) {
  if (forecast.memory_share >= std::max(forecast.compute_share, forecast.barrier_share)) return "memory";
  return forecast.compute_share >= forecast.barrier_share ? "compute" : "threads";
}

// People leave the vendor out.
Result<CpuFacts> find_cpu(const CpuCatalogue& cpus, const std::string& name, double vcpus) {
  auto cpu = cpus.find(name, vcpus);
  for (const char* vendor : {"Intel ", "AMD "}) {
    if (cpu) break;
    if (auto with_vendor = cpus.find(vendor + name, vcpus)) return with_vendor;
  }
  return cpu;
}

double seconds(int64_t tokens, double tokens_per_s) { return static_cast<double>(tokens) / tokens_per_s; }

std::string fits_text(const CpuRow& row) {
  if (!row.generation.fits_memory) return "?";
  return *row.generation.fits_memory ? "yes" : "no";
}

std::string text_of(const LlmWork& work, Precision weights, const std::vector<CpuRow>& rows,
                    const CpuForecastRequest& request) {
  TextTable table;
  table.add_column("CPU", TextTable::Align::kLeft);
  for (const char* name : {"vCPUs", "prompt", "first token", "per token", "tokens/s", "90% interval"}) {
    table.add_column(name, TextTable::Align::kRight);
  }
  for (const char* name : {"bound", "fits"}) table.add_column(name, TextTable::Align::kLeft);
  std::vector<double> first_s, next_s;
  for (const CpuRow& row : rows) {
    first_s.push_back(seconds(row.sequence, row.prefill.tokens_per_s));
    next_s.push_back(1 / row.generation.tokens_per_s);
  }
  const std::vector<std::string> first = seconds_column(first_s), next = seconds_column(next_s);
  bool imputed = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    const CpuRow& row = rows[i];
    imputed |= row.generation.bandwidth_imputed;
    table.add_row({row.cpu.name, fmt::format("{:.0f}", row.cpu.vcpus), fmt::format("{}", row.sequence), first[i],
                   next[i], fmt::format("{:.3g}", row.generation.tokens_per_s),
                   fmt::format("{:.3g} to {:.3g}", row.generation.low, row.generation.high), bound_of(row.generation),
                   fits_text(row)});
  }
  std::string text =
      fmt::format("{}: weights {}, {} read for a token; {} new tokens, one sequence, llama.cpp\n\n{}", work.name,
                  info(weights).name, human_bytes(work.weight_bytes), request.output_tokens, table.to_text());
  if (imputed) text += "\nnote: bandwidth of some of these machines was not measured; it is that of their kin\n";
  return text;
}

std::string json_of(const LlmWork& work, Precision weights, const std::vector<CpuRow>& rows) {
  Json json;
  json["schema"] = "perfcast.llm.forecast/1";
  json["model"] = work.name;
  json["parameters"] = static_cast<int64_t>(work.parameters);
  json["weights"] = info(weights).name;
  json["rows"] = Json::array();
  for (const CpuRow& row : rows) {
    Json one;
    one["device"] = row.cpu.name;
    one["vcpus"] = row.cpu.vcpus;
    one["calibrated"] = !row.generation.bandwidth_imputed;
    one["batch"] = 1;
    one["sequence"] = row.sequence;
    one["prefill_s"] = seconds(row.sequence, row.prefill.tokens_per_s);
    one["token_s"] = 1 / row.generation.tokens_per_s;
    one["tokens_per_s"] = row.generation.tokens_per_s;
    one["lower"] = row.generation.low;
    one["upper"] = row.generation.high;
    if (row.generation.fits_memory) one["fits"] = *row.generation.fits_memory;
    one["bound"] = bound_of(row.generation);
    json["rows"].push_back(std::move(one));
  }
  return to_text(json);
}

std::string csv_of(const std::vector<CpuRow>& rows) {
  std::string text = "device,vcpus,calibrated,batch,sequence,prefill_s,token_s,tokens_per_s,lower,upper,bound\n";
  for (const CpuRow& row : rows) {
    text += csv_line({row.cpu.name, csv_number(row.cpu.vcpus), row.generation.bandwidth_imputed ? "false" : "true", "1",
                      fmt::format("{}", row.sequence), csv_number(seconds(row.sequence, row.prefill.tokens_per_s)),
                      csv_number(1 / row.generation.tokens_per_s), csv_number(row.generation.tokens_per_s),
                      csv_number(row.generation.low), csv_number(row.generation.high), bound_of(row.generation)});
  }
  return text;
}

}  // namespace

Result<std::string> cpu_forecast(const LlmConfig& config, std::optional<Precision> weights,
                                 const CpuForecastRequest& request, CpuForecastFormat format) {
  const auto bundle = read_token_bundle(shipped_file("bundles/cpu-tokens.json"));
  if (!bundle) return bundle.error();
  const Precision stored = weights.value_or(Precision::kQ4_K_M);
  const auto work = cpu_work_of(config, stored);
  if (!work) return work.error();
  std::vector<CpuRow> rows;
  for (const std::string& name : request.cpus) {
    const auto cpu = find_cpu(bundle->cpus, name, request.vcpus);
    if (!cpu) {
      Error error = cpu.error();
      if (error.where.empty()) error.where = "--cpu";
      return error;
    }
    for (const int64_t sequence : request.sequences) {
      CpuRow row;
      row.cpu = *cpu;
      row.sequence = sequence;
      const auto prefill = bundle->forecast(*cpu, *work, TokenPhase::kPrefill, sequence);
      if (!prefill) return prefill.error();
      // The bundle's generation starts without a prompt: as many tokens as give the same mean context.
      const auto generation =
          bundle->forecast(*cpu, *work, TokenPhase::kGeneration, 2 * sequence + request.output_tokens);
      if (!generation) return generation.error();
      row.prefill = *prefill;
      row.generation = *generation;
      rows.push_back(std::move(row));
    }
  }
  switch (format) {
    case CpuForecastFormat::kJson:
      return json_of(*work, stored, rows);
    case CpuForecastFormat::kCsv:
      return csv_of(rows);
    case CpuForecastFormat::kText:
      break;
  }
  return text_of(*work, stored, rows, request);
}

}  // namespace perfcast
