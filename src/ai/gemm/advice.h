#pragma once
// What is left on the table, each proven by measuring both sides in turns.

#include <string>
#include <vector>

#include "ai/gemm/gemm_result.h"
#include "ai/gemm/run/ladder.h"
#include "ai/gemm/session.h"
#include "base/result.h"

namespace perfcast::ai::gemm {

inline constexpr double kWorthwhile = 1.05;  // a gain below is not worth a change
// With fewer samples on a side there is no spread to go by, and single runs on a busy machine differ by a factor of two
// and more: only a larger gain counts.
inline constexpr size_t kFewSamples = 3;
inline constexpr double kGainOfFew = 4;

// Whether `after` beats `before` by more than kWorthwhile and its third quartile is below the first one of `before`:
// more than noise. With few samples: by more than kGainOfFew.
bool clearly_faster(const Measurement& before, const Measurement& after);
// Of the ladder's rows, likewise.
bool clearly_faster(const RungResult& before, const RungResult& after);

struct EnvironmentChoice {
  std::string variable, value, kernel;  // kernel: as the library will name it; empty: any
};
// Kernels of other CPU generations that this CPU can run, as a library is told to take them. `rung`: "openblas",
// "blis"; empty for others.
std::vector<EnvironmentChoice> kernel_choices(const std::string& rung, const std::vector<std::string>& isas);

// Advice that follows from the ladder as measured: threads, flags, precision, library. A gain counts above kWorthwhile
// and with median +- half the interquartile range apart; with few samples, above kGainOfFew.
std::vector<Advice> advice_from_ladder(const GemmResult& result);

// All of it, added to result.advice: the ladder's, and libraries measured anew under other environments. The largest
// shape decides. Errors: those of run_ladder, and its interrupt.
Status find_advice(const GemmRequest& request, GemmResult& result);

}  // namespace perfcast::ai::gemm
