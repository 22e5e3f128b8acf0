#pragma once
// A serving engine on CPU servers as its fitted constants: what was measured, and how far forecasts were off on CPU
// models that were left out.

#include <cstdint>
#include <string>
#include <vector>

#include "ai/engine/cpu_engine_step.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

// Half widths of 90% intervals in logs: seconds within [s exp(-w), s exp(+w)].
struct CpuEngineWidths {
  double client_token = kUnknown, further_token = kUnknown, first_token = kUnknown;
};

// A language model that was measured.
struct CpuEngineModel {
  std::string name;  // as perfcast names it
  double weight_bytes = 0;
  CpuEngineWidths left_out;  // where the constants were fitted without it
};

struct CpuEngineProfile {
  std::string name, version;  // "vllm", "0.22"
  std::string source;
  int64_t rows = 0;               // single streams behind the constants
  std::vector<std::string> cpus;  // that were measured: cpu_model_key()
  std::vector<CpuEngineModel> models;
  CpuEngineConstants constants;
  CpuEngineWidths measured;  // of CPU models that were left out, their bandwidth measured
  CpuEngineWidths of_kin;    // ... their bandwidth that of CPUs like them

  // The one nearest in size; null without any.
  const CpuEngineModel* nearest_model(double weight_bytes) const;
  std::vector<std::string> model_names() const;
};

struct CpuEngineRequest {
  Precision precision = Precision::kBf16;
  int64_t processes = 1;
  int64_t prompt_tokens = 0, output_tokens = 128;
  bool sorts = false;            // the model's defaults cut the vocabulary (sampler_defaults())
  double unmeasured_log_sd = 0;  // of what no run covers, in the model
};

struct CpuEngineForecast {
  CpuEngineMachine machine;
  CpuEngineTimes times;
  double client_token_s = 0;  // the whole request over its output tokens
  CpuEngineWidths widths;
  bool knows_cpu = false, knows_model = false;  // vLLM was measured on this CPU model; with this language model
};

// `work` in 16 bits. Errors of cpu_engine_machine() and check_llm_work(); "bad-tokens".
Result<CpuEngineForecast> forecast_cpu_engine(const CpuEngineProfile& profile, const CpuFacts& cpu, const LlmWork& work,
                                              const CpuEngineRequest& request);

Json to_json(const CpuEngineProfile& profile);
// "bad-json-field": all mistakes at once.
Result<CpuEngineProfile> cpu_engine_profile_from(const Json& json, const std::string& path);

}  // namespace perfcast::ai
