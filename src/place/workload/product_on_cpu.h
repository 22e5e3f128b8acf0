#pragma once
// The time of a product of matrices on a CPU by its data sheet: what its vector or matrix units make in a cycle, its
// clock, and the read bandwidth that was measured. Nothing is learned: libraries reach fixed shares of both.

#include "ai/cpu_tokens/cpu_facts.h"
#include "ai/llm/precision.h"
#include "base/unknown.h"
#include "place/workload/placement.h"

namespace perfcast::place {

// Shares of the peak and of the bandwidth: those of ai/latency/model/roofline_shares.h; on this project's own
// machine the best library reached 0.72 of the measured peak of vectors in fp32, but 0.24 to 0.26 of that of matrix
// units in bf16 and int8, which caches can't feed (docs/gemm.md).
inline constexpr double kAmxShare = 0.25;
// What starting all threads and waiting for the last one takes; assumed, as OpenMP's with threads that spin.
inline constexpr double kCpuThreadStart_s = 5e-6;
// Standard deviations of log time: of the two shares, as the roofline's; of clocks between base and boost.
inline constexpr double kCpuShareLogError = 0.3, kCpuClockLogError = 0.2;

// The clock that a CPU keeps under load: between its base and its highest clock (geometric mean); where the highest
// isn't known, or is none, so much above the base as half of the usual way. Unknown where neither is known. A machine
// with few busy cores comes nearer to the highest: the three on which this project measured peaks kept 1.42 to 1.57
// times their base.
inline constexpr double kUsualOverBase = 1.2;
double busy_clock_hz(double base_hz, double highest_hz);

struct CpuRate {
  double flops_per_cycle = 0;  // of one core; a multiply-add is two
  ai::Precision computed_in = ai::Precision::kFp32;
  double share = 0;  // of these that a library reaches
};
// In the precision that was asked for where the core has units for it, else in fp32. From the makers' optimisation
// manuals; bf16 and int8 of Zen 4 and 5 as measured by `perfcast gemm`. Guessed from the flags where the design is
// unknown; of Arm's cores fp32 alone is known.
CpuRate cpu_rate(const ai::CpuFacts& facts, ai::Precision precision);

struct CpuProductTime {
  double seconds = kUnknown;  // unknown without a clock
  double threads = 1;         // one, where that is faster than all
  PlaceBound bound = PlaceBound::kCompute;
  ai::Precision computed_in = ai::Precision::kFp32;
};
// On one core or on all, whichever is faster. `bytes`: moved at least once; `operations`: a multiply-add is two.
CpuProductTime product_on_cpu(const ai::CpuFacts& facts, double clock_hz, ai::Precision precision, double operations,
                              double bytes);

}  // namespace perfcast::place
