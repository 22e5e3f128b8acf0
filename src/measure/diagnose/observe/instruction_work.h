#pragma once
// What one execution of an instruction computes and moves, and how it changes registers. Floating-point operations are
// counted as Intel's counters FP_ARITH_INST_RETIRED do: additions, multiplications, divisions, roots, minima and maxima
// of every lane, masked or not, a fused multiply-add as two.

#include <cstddef>

#include "measure/diagnose/observe/code_map.h"

struct cs_insn;

namespace perfcast::measure {

// Fill in what CodeInstruction says of one execution; its vector_bits must be known. `handle`: capstone's, with
// details.
void describe_x86_work(size_t handle, const cs_insn& in, CodeInstruction& instruction);
void describe_arm_work(size_t handle, const cs_insn& in, CodeInstruction& instruction);

}  // namespace perfcast::measure
