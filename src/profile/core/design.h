#pragma once
// A core design as data: what a windowed model of an out-of-order core needs to know. The numbers, with their public
// sources and which of them are estimates, are in data/cores/designs.json (schema perfcast.core_designs/1).

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

// Kinds of operations that differ in latency, throughput or ports. kLoad is a load to use from the first-level cache
// into a general register.
enum class CoreOp : uint8_t {
  kNothing,  // needs no unit: an idiom, an eliminated move
  kAlu,
  kShift,
  kMultiply,
  kDivide32,
  kDivide64,
  kBranch,
  kFloatAdd,
  kFloatMultiply,
  kFma,
  kFloatDivide32,
  kFloatDivide64,
  kFloatRoot,
  kConvert,
  kVectorInteger,
  kVectorMultiply,
  kShuffle,
  kX87,
  kX87Divide,
  kTranscendental,  // of the x87 stack
  kCrypto,
  kAtomic,
  kFence,
  kCounter,  // clocks, identification
  kRandom,
  kPause,
};
inline constexpr size_t kCoreOps = 26;

struct CoreOpCost {
  double latency_cycles = 0;
  double interval_cycles = 0;  // from one to the next on the same unit; 1: fully pipelined
};

// Ports of one group take one operation a cycle each. Scalar operations go to `alu`; where vectors share its ports
// (Intel) they take part of those too.
struct CorePorts {
  int alu = 0, shift = 0, multiply = 0, branch = 0;
  int vector = 0, float_add = 0, float_multiply = 0, shuffle = 0;
  int load = 0, store = 0;
  int memory = 0;  // addresses a cycle, loads and stores together
  bool vector_shares_alu = false;
};

struct CoreDesign {
  std::string name;  // as core_design() writes it: "zen3"
  std::string instruction_set;
  std::vector<std::string> sources;
  std::vector<std::string> estimated;  // fields that no public source states: ours, from its relatives
  uint32_t checksum = 0;               // of its numbers as the file has them, those from other designs included

  int width = 0;                  // instructions renamed a cycle
  int taken_branches_cycles = 0;  // at least, from one taken branch to the next
  int op_cache_instructions = 0;  // that it keeps decoded; 0: none
  int decode_width = 0;           // instructions a cycle, of code that is not kept decoded
  int fetch_bytes = 0;            // of it a cycle
  int btb_entries = 0;            // branches whose target costs nothing more
  int btb_miss_cycles = 0;        // more for a taken branch beyond those
  int window = 0;                 // instructions in flight (reorder buffer)
  int scheduler = 0;              // of them waiting for operands
  int load_queue = 0, store_queue = 0;
  int mispredict_cycles = 0;  // from a branch's outcome to the next instruction's renaming
  int vector_bytes = 0;       // of a unit; wider operations take several
  bool eliminates_moves = false;
  CorePorts ports;
  std::array<CoreOpCost, kCoreOps> ops{};

  double l1i_bytes = 0, l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // L3: what a core can fill
  int l1d_cycles = 0, l1d_vector_cycles = 0, l2_cycles = 0, l3_cycles = 0;
  int forward_cycles = 0;   // from a store's data to a load of it
  int mirror_cycles = 0;    // the same where both name the address by registers that nothing wrote in between
  int transfer_cycles = 0;  // between general and vector registers, besides the operation
  int misses = 0;           // lines underway beyond the first level
  int tlb_entries = 0, tlb_miss_cycles = 0, page_walk_cycles = 0;
  double memory_ns = 0, line_ns = 0;  // to the first word; from one line to the next
  double clock_hz = 0;                // typical, under load: turns ns into cycles

  double memory_cycles() const { return memory_ns * 1e-9 * clock_hz; }
  const CoreOpCost& cost(CoreOp op) const { return ops[static_cast<size_t>(op)]; }
};

// Every mistake of a file at once, with its path: error "bad-core-design".
Result<std::vector<CoreDesign>> parse_core_designs(std::string_view text, const std::string& source);
Result<std::vector<CoreDesign>> read_core_designs(const std::string& path);

}  // namespace perfcast
