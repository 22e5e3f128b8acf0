#pragma once
// What `perfcast gemm` found: the ladder, the measured limits of the machine, what would be faster.

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ai/gemm/conv/conv_shape.h"
#include "ai/gemm/cuda/nvml.h"
#include "ai/gemm/precision.h"
#include "ai/gemm/shape.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai::gemm {

// One rung at one shape and thread count that ran and whose result was compared.
struct RungResult {
  std::string name, title, device = "cpu", isa;
  Precision precision = Precision::kFp32;
  Shape shape;                    // of a convolution: of the equivalent product
  std::optional<ConvLayer> conv;  // what was computed, where it was no product
  int threads = 1;
  std::map<std::string, std::string> environment;  // set for it beyond the thread count
  // Times are NaN, and samples 0, where the result was wrong: it has no speed.
  double median_s = kUnknown, low_s = kUnknown, high_s = kUnknown;
  double spread = kUnknown;  // interquartile range over the median; NaN with one sample
  double on_cpu = kUnknown;  // share of the time that it had a CPU; known for one thread
  int samples = 0;
  double gflops = kUnknown;       // at the median
  double best_gflops = kUnknown;  // at the fastest sample
  double peak_gflops = kUnknown;  // measured at best, at its precision and thread count, the widest of the machine
  double peak_share = kUnknown;   // of the measured peak; NaN with more threads than cores
  double isa_share = kUnknown;    // of the peak of the rung's own instructions, where it has its own
  double speedup = kUnknown;      // over the first rung of the same shape that ran
  bool correct = false;
  double relative_error = kUnknown;  // against float64 with the inputs before rounding
  std::string kernel;                // which the library chose
  std::string note;
};

inline bool same_problem(const RungResult& a, const RungResult& b) { return a.shape == b.shape && a.conv == b.conv; }
// What was computed: "1024", or the convolution.
inline std::string problem_text(const Shape& shape, const std::optional<ConvLayer>& conv) {
  return conv ? to_text(*conv) : to_text(shape);
}
// Bytes that it must move at the least.
inline double problem_bytes(const RungResult& row) {
  const double bytes = input_bytes(row.precision);
  return row.conv ? compulsory_bytes(row.conv->shape, bytes, 4) : compulsory_bytes(row.shape, bytes, 4);
}

struct SkippedRung {
  std::string name, reason;
  Shape shape;
  int threads = 1;
  std::optional<ConvLayer> conv = std::nullopt;
};

struct Peak {
  std::string isa, device = "cpu";
  Precision precision = Precision::kFp32;
  int threads = 1;
  double gflops = kUnknown;  // of all threads, the best sample
  double spread = kUnknown;  // over the run: clock and neighbours; NaN with one sample
};

struct Bandwidth {
  int threads = 1;
  double gb_per_s = kUnknown;  // 1e9 bytes read; the best piece of the array
  double array_bytes = 0;
  double spread = kUnknown;  // of the rounds, (q3 - q1) / median
};

struct Advice {
  std::string change;  // "BLIS: set BLIS_ARCH_TYPE=0 (kernel skx instead of haswell)"
  std::string kind;    // "environment", "threads", "flags", "precision", "library"
  Shape shape;
  double before_gflops = kUnknown, after_gflops = kUnknown, gain = kUnknown;
  std::string cost;              // what is given up: "relative error 0.3%"; empty: nothing
  std::string subject = "This";  // whose speed before_gflops is, for a sentence: "Eigen"
  std::optional<ConvLayer> conv = std::nullopt;
  bool is_measured = true;  // false: what it would reach is expected from something else's speed
};

struct Noise {
  double load_average = kUnknown;  // at the start, one minute
  double steal_share = kUnknown;   // of CPU time during the run, taken by the hypervisor
  double on_cpu = kUnknown;        // median of what the rungs of one thread had
  double peak_spread = kUnknown;   // of the fp32 peak loop from round to round
};

struct GemmResult {
  std::string op = "gemm";  // or "conv"
  std::string cpu;
  int cores = 1;
  std::vector<std::string> isas;
  uint64_t seed = 1;
  std::vector<Peak> peaks;
  std::vector<Bandwidth> bandwidths;
  std::vector<RungResult> rungs;
  std::vector<SkippedRung> skipped;
  std::vector<Advice> advice;
  std::vector<std::string> warnings;
  Noise noise;
  std::optional<Error> interrupted;  // by a signal, before all was measured
  std::optional<GpuFacts> gpu;       // read while the run ended; where a rung of a GPU ran

  // More threads than cores: they wait for each other, and neither a peak nor a time says much.
  bool oversubscribed(const std::string& device, int threads) const;
  // The widest measured peak, NaN where none was measured; `isa` empty: any.
  double peak(const std::string& device, Precision precision, int threads, const std::string& isa = "") const;
};

}  // namespace perfcast::ai::gemm
