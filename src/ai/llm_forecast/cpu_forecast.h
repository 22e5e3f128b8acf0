#pragma once
// Tokens per second of a language model on CPUs that a bundle knows, one sequence at a time: under llama.cpp, or under
// a serving engine that was measured on CPU servers.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ai/cpu_tokens/token_bundle.h"
#include "ai/engine/cpu_engine_profile.h"
#include "ai/llm/model_config.h"
#include "ai/llm/precision.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

struct CpuForecastRequest {
  std::vector<std::string> cpus;  // names of CPU models or of cloud chips, with the maker or without
  // Those of them that the catalogue doesn't have, by name: their bandwidth is taken from their kin.
  std::map<std::string, CpuFacts> others;
  std::map<std::string, double> usd_per_hour;  // of a whole machine, by the names of `cpus`
  double vcpus = kUnknown;                     // of the machine; NaN: the largest that was measured
  std::vector<int64_t> sequences;              // tokens of the prompt
  int64_t output_tokens = 128;                 // new ones
  std::optional<Precision> weights;            // in the place of the usual q4_k_m; of an engine, of its usual 16 bits
  std::optional<double> bits_per_value;        // of a file that says how its weights are stored; wins
  const CpuEngineProfile* engine = nullptr;    // null: llama.cpp
  int64_t processes = 1;                       // of the engine, each on a NUMA node: its tensor-parallel degree
};

// Both ends of a 90% interval; NaN: not known.
struct CpuInterval {
  double low = kUnknown, high = kUnknown;
};

struct CpuForecastRow {
  CpuFacts cpu;
  int64_t sequence = 0;
  double prefill_s = kUnknown;  // of an engine: until the client has the first token
  double token_s = kUnknown;    // of each further one
  double tokens_per_s = kUnknown;
  CpuInterval tokens_per_s_90;
  double usd_per_million = kUnknown;         // tokens
  std::optional<bool> fits_memory;           // where the machine's memory is known
  std::string bound;                         // of further tokens: "memory", "compute", "threads", "host"
  std::string weights;                       // "q4_k_m", "bf16"
  std::string engine;                        // "llama.cpp", "vllm 0.22"
  double largest_measured_vcpus = kUnknown;  // of the machines with this CPU model
  // Of an engine alone.
  std::optional<CpuEngineForecast> details;
  CpuInterval prefill_s_90, client_token_s_90;
  std::string measured;  // on this CPU model: "vllm, bandwidth", "bandwidth", "nothing at this size"
};

struct CpuForecast {
  LlmWork work;
  std::string weights;               // "q4_k_m", "4.912 bits", "bf16", "16 bits" where rows differ
  std::string engine;                // "llama.cpp", "vllm 0.22"
  std::string unmeasured;            // what no run of the engine covers in the model, in words
  std::vector<CpuForecastRow> rows;  // each CPU with each sequence, as asked for
};

// The upper end of an interval is no more than the data sheet of the memory allows, where that is known.
// "unknown-cpu", with near names; "bad-vcpus"; errors of CpuCatalogue::impute(), cpu_work_of(), TokenBundle::forecast()
// and forecast_cpu_engine().
Result<CpuForecast> forecast_on_cpus(const TokenBundle& bundle, const LlmConfig& config,
                                     const CpuForecastRequest& request);
// Whether the catalogue has a CPU of that name, with the maker or without.
bool knows_cpu(const CpuCatalogue& cpus, const std::string& name);

Json cpu_forecast_json(const CpuForecast& forecast);  // schema perfcast.llm.forecast/1
std::string cpu_forecast_csv(const CpuForecast& forecast);
std::string cpu_forecast_rows_text(const CpuForecast& forecast);  // a table
// Of several rows the one of most tokens/s, and the cheapest where a price is known; each a line.
std::string cpu_forecast_answer(const CpuForecast& forecast);
// What both times of an engine consist of.
std::string cpu_engine_parts_text(const CpuForecastRow& row);

}  // namespace perfcast::ai
