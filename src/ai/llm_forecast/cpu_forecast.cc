#include "ai/llm_forecast/cpu_forecast.h"

#include <algorithm>
#include <utility>

#include "ai/llm_forecast/cpu_work.h"
#include "base/json.h"

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

}  // namespace

std::string CpuForecastRow::bound() const {
  if (generation.memory_share >= std::max(generation.compute_share, generation.barrier_share)) return "memory";
  return generation.compute_share >= generation.barrier_share ? "compute" : "threads";
}

Result<CpuForecast> forecast_on_cpus(const TokenBundle& bundle, const LlmConfig& config,
                                     const CpuForecastRequest& request) {
  CpuForecast result;
  result.weights = request.weights.value_or(Precision::kQ4_K_M);
  auto work = cpu_work_of(config, result.weights);
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
  json["weights"] = info(forecast.weights).name;
  json["rows"] = Json::array();
  for (const CpuForecastRow& row : forecast.rows) {
    Json one;
    one["device"] = row.cpu.name;
    one["vcpus"] = row.cpu.vcpus;
    one["calibrated"] = !row.generation.bandwidth_imputed;
    one["batch"] = 1;
    one["sequence"] = row.sequence;
    one["prefill_s"] = row.prefill_s();
    one["token_s"] = row.token_s();
    one["tokens_per_s"] = row.generation.tokens_per_s;
    one["lower"] = row.generation.low;
    one["upper"] = row.generation.high;
    if (row.generation.fits_memory) one["fits"] = *row.generation.fits_memory;
    one["bound"] = row.bound();
    json["rows"].push_back(std::move(one));
  }
  return json;
}

}  // namespace perfcast::ai
