#pragma once
// What forecasts of engines on CPU servers are held against, each CPU model left out.

#include <vector>

#include "ai/engine/cpu_engine_fit.h"
#include "ai/engine/engine_step.h"
#include "base/result.h"
#include "base/unknown.h"
#include "studies/engines/engine_evaluation.h"

namespace perfcast::ai::engines_study {

// Seconds; NaN: no forecast.
struct CpuTimes {
  double first_s = kUnknown, further_s = kUnknown, client_token_s = kUnknown;
  double of(EngineTarget target) const {
    return target == EngineTarget::kFirstToken     ? first_s
           : target == EngineTarget::kFurtherToken ? further_s
                                                   : client_token_s;
  }
};
inline CpuTimes cpu_times(const CpuEngineRow& row, double first_s, double further_s) {
  return {first_s, further_s, client_token_s(first_s, further_s, static_cast<double>(row.output_tokens))};
}

struct CpuEngineBaselines {  // each for every row
  // Of the whole machine: further tokens c weights / bandwidth, first ones c products of the prompt / cores.
  std::vector<CpuTimes> one_constant;
  // a weights / bandwidth + b weights / cores + c, and a weights / bandwidth + b products / cores + c.
  std::vector<CpuTimes> three_constants;
  std::vector<CpuTimes> other_servers;  // medians of those with the same CPU model, provider, size, model and load
};
Result<CpuEngineBaselines> cpu_engine_baselines(const std::vector<CpuEngineRow>& rows);

}  // namespace perfcast::ai::engines_study
