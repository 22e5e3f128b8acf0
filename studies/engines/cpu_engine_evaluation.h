#pragma once
// How well an engine's times on CPU servers are forecast on CPU models that were left out, beside baselines and the
// noise floor.

#include <string>
#include <vector>

#include "ai/engine/cpu_engine_fit.h"
#include "ai/engine/cpu_engine_profile.h"
#include "ai/engine/engine_bundle.h"
#include "base/report/table.h"
#include "base/result.h"
#include "studies/engines/engine_evaluation.h"

namespace perfcast::ai::engines_study {

inline constexpr const char* kCpuOut = "a CPU model left out";
inline constexpr const char* kCpuOutKin = "a CPU model left out, its bandwidth not measured";
inline constexpr const char* kDesignOut = "a core design left out";
inline constexpr const char* kBandwidthOrCores = "bandwidth or cores, one constant";
inline constexpr const char* kThreeConstants = "bandwidth, cores and a fixed time";
inline constexpr const char* kSameServerSize = "same CPU model, provider, size, model and load";
inline constexpr const char* kWithoutStarts = "engine not starting up";

struct CpuEngineEvaluation {
  std::vector<EngineScore> scores;  // every row weighs 1
  std::vector<EngineScore> groups;  // ours: by language model, size, core design and provider, a CPU model left out
  CpuEngineProfile profile;         // fitted on all rows, with its intervals; nameless
};

// "too-few-rows" below three CPU models; errors of fit_cpu_engine(). `servers`: what kin's bandwidth is taken from.
Result<CpuEngineEvaluation> evaluate_cpu_engine(const std::vector<CpuEngineRow>& rows,
                                                const std::vector<TokenServer>& servers, int threads);

// Puts the profile and its scores into the bundle.
void add_cpu_engine(const CpuEngineEvaluation& evaluation, EngineBundle& bundle);

ReportTable cpu_engine_constants_table(const CpuEngineProfile& profile);

}  // namespace perfcast::ai::engines_study
