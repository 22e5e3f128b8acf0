#pragma once
// Tokens per second of a language model on CPUs that a bundle knows, one sequence at a time.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ai/cpu_tokens/token_bundle.h"
#include "ai/llm/model_config.h"
#include "ai/llm/precision.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

struct CpuForecastRequest {
  std::vector<std::string> cpus;         // names of CPU models, with the vendor or without
  double vcpus = kUnknown;               // of the machine; NaN: the largest that was measured
  std::vector<int64_t> sequences;        // tokens of the prompt
  int64_t output_tokens = 128;           // new ones
  std::optional<Precision> weights;      // in the place of the usual q4_k_m
  std::optional<double> bits_per_value;  // of a file that says how its weights are stored; wins
};

struct CpuForecastRow {
  CpuFacts cpu;
  int64_t sequence = 0;
  TokenForecast prefill, generation;

  double prefill_s() const { return static_cast<double>(sequence) / prefill.tokens_per_s; }
  double token_s() const { return 1 / generation.tokens_per_s; }
  std::string bound() const;  // of generation: "memory", "compute", "threads"
};

struct CpuForecast {
  LlmWork work;
  std::string weights;               // "q4_k_m", "4.912 bits"
  std::vector<CpuForecastRow> rows;  // each CPU with each sequence, as asked for
};

// "unknown-cpu", with near names; "bad-vcpus"; errors of cpu_work_of() and TokenBundle::forecast().
Result<CpuForecast> forecast_on_cpus(const TokenBundle& bundle, const LlmConfig& config,
                                     const CpuForecastRequest& request);

Json cpu_forecast_json(const CpuForecast& forecast);  // schema perfcast.llm.forecast/1
std::string cpu_forecast_csv(const CpuForecast& forecast);
std::string cpu_forecast_rows_text(const CpuForecast& forecast);  // a table

}  // namespace perfcast::ai
