#pragma once
// The constants of an engine on CPU servers from its measured single streams.

#include <cstdint>
#include <string>
#include <vector>

#include "ai/cpu_tokens/token_rates.h"
#include "ai/engine/cpu_engine_step.h"
#include "ai/engine/vllm_points.h"
#include "ai/llm/precision.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

// One measured stream with all that its forecast needs.
struct CpuEngineRow {
  std::string cpu;       // cpu_model_key()
  std::string design;    // cpu_engine_design()
  std::string provider;  // "gcp"
  std::string server;    // "gcp/c3-standard-4"
  CpuFacts facts;
  CpuEngineMachine machine;
  LlmWork work;
  bool sorts = false;
  Precision precision = Precision::kBf16;
  int64_t processes = 1, prompt_tokens = 0, output_tokens = 0;
  double further_s = 0, first_s = 0, client_token_s = 0;
  // The engine was still starting: with a short prompt it took much longer for a token than with a long one. Fits leave
  // such rows out.
  bool starts_up = false;
};

// What makes a row of a point; the language model is `work`. Not known: bandwidth isn't measured, vCPUs aren't
// plausible.
CpuEngineRow cpu_engine_row(const VllmPoint& point, const TokenServer& server, const LlmWork& work, Precision precision,
                            bool sorts);

// Why the row's machine can't be the server that its name says; empty: it can. Clouds move names to other processors.
std::string why_another_machine(const VllmPoint& point, const CpuEngineRow& row);

// Sets starts_up: of one server, model and format, a further token after a shorter prompt took over 1.25 times that
// after a longer one, which is never so in an engine that runs steadily.
void mark_starts(std::vector<CpuEngineRow>& rows);

// Rows that differ in nothing but their server, as one: medians of their times and bandwidths.
struct CpuEngineCell {
  std::string cpu, design;
  CpuEngineMachine machine;
  const CpuEngineRow* like = nullptr;  // for everything else
  double further_s = 0, first_s = 0;
  int64_t rows = 0;
};
// Of rows with measured bandwidth that don't start up; the rows must outlive the cells.
std::vector<CpuEngineCell> cpu_engine_cells(const std::vector<CpuEngineRow>& rows);

// Least squares of the logs of both times with soft-L1 loss (scale 0.15), and a weak pull to the constants' starts, on
// cells with `use` (empty: all). CPU models weigh by the root of their cells. `from`: where the search begins.
// Deterministic. "too-few-rows" below 20; "bad-fit".
Result<CpuEngineConstants> fit_cpu_engine(const std::vector<CpuEngineCell>& cells, const std::vector<bool>& use = {},
                                          const CpuEngineConstants* from = nullptr);
CpuEngineConstants cpu_engine_starts();

// Half width, in logs, of an interval that holds `share` of the errors: groups weigh by the root of their errors. NaN
// without any.
struct GroupedError {
  std::string group;
  double log_ratio = 0;
};
double log_half_width(const std::vector<GroupedError>& errors, double share);

}  // namespace perfcast::ai
