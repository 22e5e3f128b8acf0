#pragma once
// Loops that do nothing but multiply and add in registers: what one core can do at the most, per precision and
// instruction set.

#include <cstdint>
#include <string>
#include <vector>

#include "workload/gemm/precision.h"

namespace perfcast::gemm {

struct PeakLoop {
  std::string isa;  // name of cpu_isa.h
  Precision precision;
  double operations;  // arithmetic operations of one pass, a fused multiply-add counting as two
  // Runs `passes` passes; the value depends on all of them, so that none can be left out.
  float (*run)(int64_t passes);
};

// Those that this CPU can run, the widest of each precision first. AMX loops need request_amx() in their process.
const std::vector<PeakLoop>& peak_loops();
const PeakLoop* find_peak_loop(const std::string& isa, Precision precision);

}  // namespace perfcast::gemm
