#include "ai/llm_forecast/cpu_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ai/llm_forecast/cpu_work.h"
#include "base/json.h"
#include "base/report/table.h"

namespace perfcast::ai {
namespace {

// People leave the vendor out.
Result<CpuFacts> cpu_named(const CpuCatalogue& cpus, const std::string& name, double vcpus) {
  auto cpu = cpus.find(name, vcpus);
  for (const char* vendor : {"Intel ", "AMD "}) {
    if (cpu) break;
    if (auto with_vendor = cpus.find(vendor + name, vcpus)) return with_vendor;
  }
  return cpu;
}

// All columns, in the order of JSON.
ReportTable columns_of(const CpuForecast& forecast) {
  using enum Quantity;
  using Row = CpuForecastRow;
  return table_of<Row>(
      "", forecast.rows,
      {{"device", "CPU", kText, [](const Row& row) { return row.cpu.name; }},
       {"vcpus", "vCPUs", kCount, [](const Row& row) { return row.cpu.vcpus; }},
       {"calibrated", "", kYes, [](const Row& row) { return !row.generation.bandwidth_imputed; }},
       {"batch", "", kCount, [](const Row&) { return 1; }},
       {"sequence", "prompt", kCount, &Row::sequence},
       {"prefill_s", "first token", kSeconds, &Row::prefill_s},
       {"token_s", "per token", kSeconds, &Row::token_s},
       {"tokens_per_s", "tokens/s", kNumber, [](const Row& row) { return row.generation.tokens_per_s; },
        [](const Row& row) { return fmt::format("{:.3g}", row.generation.tokens_per_s); }},
       {"lower", "", kNumber, [](const Row& row) { return row.generation.low; }},
       {"upper", "", kNumber, [](const Row& row) { return row.generation.high; }},
       {"", "90% interval", kNumber,
        [](const Row& row) { return fmt::format("{:.3g} to {:.3g}", row.generation.low, row.generation.high); }},
       {"fits", "fits", kYes, [](const Row& row) { return row.generation.fits_memory; },
        [](const Row& row) {
          if (!row.generation.fits_memory) return "?";
          return *row.generation.fits_memory ? "yes" : "no";
        }},
       {"bound", "bound", kText, &Row::bound}});
}

}  // namespace

std::string CpuForecastRow::bound() const {
  if (generation.memory_share >= std::max(generation.compute_share, generation.barrier_share)) return "memory";
  return generation.compute_share >= generation.barrier_share ? "compute" : "threads";
}

Result<CpuForecast> forecast_on_cpus(const TokenBundle& bundle, const LlmConfig& config,
                                     const CpuForecastRequest& request) {
  CpuForecast result;
  const Precision weights = request.weights.value_or(Precision::kQ4_K_M);
  result.weights =
      request.bits_per_value ? fmt::format("{:.3f} bits", *request.bits_per_value) : std::string(info(weights).name);
  auto work = cpu_work_of(config, weights, request.bits_per_value);
  if (!work) return work.error();
  result.work = std::move(*work);
  for (const std::string& name : request.cpus) {
    const auto cpu = cpu_named(bundle.cpus, name, request.vcpus);
    if (!cpu) return cpu.error();
    for (const int64_t sequence : request.sequences) {
      const auto prefill = bundle.forecast(*cpu, result.work, TokenPhase::kPrefill, sequence);
      if (!prefill) return prefill.error();
      // The bundle's generation starts without a prompt: as many tokens as give the same mean context.
      const auto generation =
          bundle.forecast(*cpu, result.work, TokenPhase::kGeneration, 2 * sequence + request.output_tokens);
      if (!generation) return generation.error();
      result.rows.push_back({*cpu, sequence, *prefill, *generation});
    }
  }
  return result;
}

Json cpu_forecast_json(const CpuForecast& forecast) {
  Json json;
  json["schema"] = "perfcast.llm.forecast/1";
  json["model"] = forecast.work.name;
  json["parameters"] = static_cast<int64_t>(forecast.work.parameters);
  json["weights"] = forecast.weights;
  json["rows"] = rows_json(columns_of(forecast));
  return json;
}

std::string cpu_forecast_csv(const CpuForecast& forecast) {
  return rows_csv(picked(columns_of(forecast), {"device", "vcpus", "calibrated", "batch", "sequence", "prefill_s",
                                                "token_s", "tokens_per_s", "lower", "upper", "bound"}),
                  {.digits = 6, .yes = "true", .no = "false"});
}

std::string cpu_forecast_rows_text(const CpuForecast& forecast) {
  return rows_text(picked(columns_of(forecast), {"device", "vcpus", "sequence", "prefill_s", "token_s", "tokens_per_s",
                                                 "90% interval", "bound", "fits"}));
}

}  // namespace perfcast::ai
