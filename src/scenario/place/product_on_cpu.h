#pragma once
// The time of a product of matrices on a CPU by its data sheet: what its vector or matrix units make in a cycle, its
// clock, and the read bandwidth that was measured. Nothing is learned: libraries reach fixed shares of both.

#include "base/unknown.h"
#include "scenario/place/placement.h"
#include "workload/cpu_tokens/cpu_facts.h"
#include "workload/llm/precision.h"

namespace perfcast {

// Shares of the peak and of the bandwidth: those of workload/latency/model/roofline_shares.h; on this project's own
// machine the best library reached 0.72 of the measured peak (docs/GEMM.md).
// What starting all threads and waiting for the last one takes; assumed, as OpenMP's with threads that spin.
inline constexpr double kCpuThreadStart_s = 5e-6;
// Standard deviations of log time: of the two shares, as the roofline's; of clocks between base and boost.
inline constexpr double kCpuShareLogError = 0.3, kCpuClockLogError = 0.2;

struct CpuRate {
  double flops_per_cycle = 0;  // of one core; a multiply-add is two
  Precision computed_in = Precision::kFp32;
};
// In the precision that was asked for where the core has units for it, else in fp32. From the makers' optimisation
// manuals; bf16 and int8 of Zen 4 and 5 as measured by `perfcast gemm`. Guessed from the flags where the design is
// unknown; of Arm's cores fp32 alone is known.
CpuRate cpu_rate(const CpuFacts& facts, Precision precision);

struct CpuProductTime {
  double seconds = kUnknown;  // unknown without a clock
  double threads = 1;         // one, where that is faster than all
  PlaceBound bound = PlaceBound::kCompute;
  Precision computed_in = Precision::kFp32;
};
// On one core or on all, whichever is faster. `bytes`: moved at least once; `operations`: a multiply-add is two.
CpuProductTime product_on_cpu(const CpuFacts& facts, double clock_hz, Precision precision, double operations,
                              double bytes);

}  // namespace perfcast
