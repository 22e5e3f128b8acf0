#pragma once
// What this machine can do at the most, measured in about a second: arithmetic, reading from each memory, a product of
// matrices. A program is set beside it (a roofline).

#include <string>
#include <string_view>
#include <vector>

namespace perfcast {

// Multiply-adds in registers, each counted as two operations.
struct ComputeCeiling {
  std::string isa;     // "scalar", "sse2", "avx2", "avx512", "neon"
  std::string format;  // "fp32", "fp64"
  int lanes = 1;       // numbers in a register
  double one_cpu_flops_per_s = 0, all_cpus_flops_per_s = 0;
};

// Reading from end to end what lies in this memory.
struct BandwidthCeiling {
  std::string level;             // "L1", "L2", "L3", "memory"
  double working_set_bytes = 0;  // that was read, by each CPU
  double one_cpu_bytes_per_s = 0, all_cpus_bytes_per_s = 0;
};

struct MachineCeilings {
  int cpus_count = 0;  // that this process may use, all of which the "all CPUs" ran on; 0: nothing was measured
  std::vector<ComputeCeiling> compute;      // by format, the widest first
  std::vector<BandwidthCeiling> bandwidth;  // the nearest first
  double one_cpu_additions_per_s = 0;       // of whole numbers, independent of each other; 0: not measured
  double all_cpus_additions_per_s = 0;
  double clock_hz = 0;                     // of one busy CPU: additions that wait for each other; 0: not measured
  double one_cpu_product_flops_per_s = 0;  // of our own product of two float matrices; 0: this build has none
  std::vector<std::string> notes;          // what could not be measured, and why
  double took_s = 0;

  const ComputeCeiling* widest(std::string_view format) const;  // null: not measured
  const BandwidthCeiling* level(std::string_view name) const;
};

// The best of several short runs each, as what else runs only slows them: as many as it takes to reach the best again.
// Their results are checked, and what comes out wrong is left out, with a note. So is, after several attempts, what
// cannot be: wide registers that are slower than narrow ones, a cache that is slower than what lies behind it. About a
// second; on a machine that is busy or slow what is not begun after 4 s of CPU time, or 12 s, is left out, with
// a note.
MachineCeilings measure_machine_ceilings();

}  // namespace perfcast
