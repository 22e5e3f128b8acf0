#pragma once
// Loops that do nothing but multiply and add in registers: what one core can do at the most, per precision and
// instruction set.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace perfcast {

struct PeakLoop {
  std::string isa;     // name of cpu_isa.h, or kScalarIsa
  std::string format;  // of its factors: "fp64", "fp32", "bf16", "int8"
  int lanes;           // numbers in a register; 0: tiles
  double operations;   // arithmetic operations of one pass, a fused multiply-add counting as two
  // Runs `passes` passes; the value depends on all of them, so that none can be left out.
  float (*run)(int64_t passes);
};

inline constexpr std::string_view kScalarIsa = "scalar";  // one number at a time, fused where the CPU can

// Those that this CPU can run, the widest of each format first. AMX loops need request_amx() in their process.
const std::vector<PeakLoop>& peak_loops();
const PeakLoop* find_peak_loop(std::string_view isa, std::string_view format);

// Additions of whole numbers in registers, each independent of those beside it: kAdditions in a pass. Returns the sum
// of all registers, which is kAdditions * passes; -1 where this build has no such loop.
inline constexpr int kAdditions = 32;
int64_t run_additions(int64_t passes);
// Likewise of one register, each addition waiting for the one before: one cycle each. The sum is the same.
int64_t run_addition_chain(int64_t passes);

}  // namespace perfcast
