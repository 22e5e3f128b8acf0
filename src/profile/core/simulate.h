#pragma once
// A windowed model of an out-of-order core: instructions go through renaming in order, wait for their operands and for
// a port, and retire in order; queues hold so many. Each instruction is looked at once, in program order, and the cycle
// of each of its stages follows from those of the instructions before it (as in interval and trace-driven models:
// Eyerman and others, "A mechanistic performance model for superscalar out-of-order processors", ACM TOCS 27(2), 2009).
//
// Not modelled: wrong paths, the kernel, other cores, banks, partial registers, replays, fusion but for what
// the traces hold as one instruction.

#include <array>
#include <string_view>

#include "profile/core/decoded_trace.h"
#include "profile/core/design.h"

namespace perfcast {

// What the oldest instruction in flight waited for in a cycle in which the core could have retired more.
enum class CoreBound : uint8_t {
  kWidth,       // nothing: as many as the core is wide
  kFetch,       // taken branches, code from beyond the first level
  kMispredict,  // a branch that went another way
  kPorts,
  kInteger,
  kFloat,  // and vectors
  kDivide,
  kL1,  // the latency of a load that hits, of a forwarded store
  kL2,
  kL3,
  kMemory,
  kTlb,
};
inline constexpr size_t kCoreBounds = 12;
std::string_view core_bound_name(CoreBound bound);

struct CoreResult {
  double instructions_count = 0, cycles = 0;          // of the whole program, as its pieces stand for it
  std::array<double, kCoreBounds> cycles_by_bound{};  // sum to cycles
  double cpi() const { return instructions_count > 0 ? cycles / instructions_count : 0; }
};

// Raised when the same trace on the same design takes other cycles than before.
inline constexpr int kCoreModelVersion = 1;

CoreResult simulate_core(const DecodedProcess& process, const CoreDesign& design);

}  // namespace perfcast
