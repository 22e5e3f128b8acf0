#pragma once
// Hot functions beside what this machine can do at the most: how much they compute, how much of it each byte that they
// move feeds, and which ceiling is above them. Cache-aware: bytes are those that instructions load and store, whichever
// memory they come from; each memory has a roof of its own.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/ceiling/machine_ceilings.h"
#include "measure/diagnose/observe/observation.h"
#include "measure/diagnose/roofline/function_work.h"
#include "measure/diagnose/roofline/loop_shape.h"
#include "measure/diagnose/roofline/memory_traffic.h"
#include "measure/diagnose/roofline/product_nest.h"
#include "measure/diagnose/roofline/seen_work.h"
#include "profile/collect/qemu/executed_code.h"

namespace perfcast::measure {

struct RooflineRoof {
  std::string level;         // "L1", "L2", "L3", "memory"
  double allowed_per_s = 0;  // operations, where all bytes came from it; at most the ceiling of arithmetic
};

struct RooflinePoint {
  size_t function = 0;  // of Observation::functions
  double time_s = 0;    // CPU time of its user code
  FunctionWork work;    // of the whole run
  // Floating-point operations where they are a 20th of the instructions or more; instructions else.
  bool is_float = false;
  std::string format;                         // of floating point: "fp64", "fp32"; what there is most of
  double operations_per_s = 0;                // of one CPU, while it runs
  std::optional<double> operations_per_byte;  // absent: it moves nothing
  double ceiling_per_s = 0;  // of one CPU: the widest arithmetic, or additions of whole numbers; 0: not measured
  std::vector<RooflineRoof> roofs;
  // A rate above a limit says that one of both is wrong.
  bool exceeds_a_limit() const;
  // The farthest memory that would let it run faster than it does; null where it moves nothing, or none would.
  const RooflineRoof* roof_above() const;
};

// A hot loop that computes in narrower registers than this machine has, and could in wider ones.
struct NarrowLoop {
  size_t function = 0;
  LoopShape shape;
  double time_s = 0;        // CPU time of the loop
  bool is_counted = false;  // whether what follows is known: from an instrumented run
  double operations_count = 0, bytes = 0;
  double trips_count = 0;      // iterations each time that it is entered
  std::string isa;             // the widest here: "avx512"
  uint32_t possible_bits = 0;  // of its registers
  double limit_s = 0;  // at the lower of its ceilings: arithmetic in those registers, or the memory that feeds it now
  std::string limited_by;  // "arithmetic", "L2"
};

struct RecognisedProduct {
  size_t function = 0;
  ProductNest nest;
  double time_s = 0;  // CPU time of the function's user code
  double flops_per_s = 0;
  double machine_flops_per_s = 0;  // of our own product on one CPU; 0: not known
};

struct Roofline {
  MachineCeilings ceilings;
  bool runs_in_parallel = false;  // the program kept more than one CPU busy: roofs are of one CPU while all are busy
  SeenWork seen;                  // by the instrumented run; the rest is taken to be like it
  std::vector<RooflinePoint> points;  // largest time first
  std::vector<NarrowLoop> narrow_loops;
  std::vector<RecognisedProduct> products;
  std::vector<std::string> notes;
};

struct RooflineInputs {
  // Of an instrumented run; empty: there was none, and loops are all that is looked at, as where nobody knows how much
  // of the work it saw.
  const std::vector<ExecutedCode>& executed;
  SeenWork seen_work;
  MemoryTraffic traffic;  // of the whole program; not known: loops are taken to read from as far as they can
  MachineCeilings ceilings;
};
Roofline make_roofline(const Observation& seen, RooflineInputs inputs);

// "reaches 3.1 of 41 GFLOP/s (fp64); 0.12 flops a byte: reading from L2 would allow 9"
std::string roofline_in_words(const RooflinePoint& point);

}  // namespace perfcast::measure
