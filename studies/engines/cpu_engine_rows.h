#pragma once
// Points of vLLM on CPU servers, joined with the servers' facts and the models' work.

#include <string>
#include <vector>

#include "ai/engine/cpu_engine_fit.h"

namespace perfcast::ai::engines_study {

struct CpuEngineRows {
  std::vector<CpuEngineRow> rows;  // starts are marked
  std::vector<size_t> from;        // the point of each row
  std::vector<std::string> notes;  // what was left out, counted, and why
};

// Rows whose server or language model nobody knows, whose bandwidth wasn't measured, or whose machine can't be the one
// that its name says are left out.
CpuEngineRows cpu_engine_rows(const std::vector<VllmPoint>& points, const std::vector<TokenServer>& servers);

}  // namespace perfcast::ai::engines_study
