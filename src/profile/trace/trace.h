#pragma once
// Traces: pieces of what a program ran, instruction by instruction, for models of whole cores. The QEMU plugin takes
// them in the windows of a profile; a file (schema perfcast.trace/1) holds those of all processes.
//
// What a trace does not hold: values in registers and memory; what the kernel did; physical addresses; the order in
// time of several threads (a piece is of one thread); the addresses of the last instruction of a block where that is a
// call, a return or a jump through memory (see src/profile/collect/qemu/plugin/README.md).

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

// Registers of both instruction sets in one space: 0..31 general, 32..63 vector, then flags, the x87 stack as one,
// masks.
inline constexpr uint8_t kTraceRegisters = 74;

struct TraceInstruction {
  uint8_t op = 0;  // index of ProcessTrace::classes
  uint8_t size_bytes = 0;
  bool vector_float = false;
  bool memory_unknown = false;  // may touch memory in ways not decoded
  bool zero_idiom = false;      // such as xor eax, eax: needs no unit
  bool repeated = false;        // a string instruction with a repeat count
  bool undecoded = false;
  bool wide_multiply = false;
  uint8_t vector_words = 0;  // width / 64 bits; 0: no vector
  uint8_t float_bytes = 0;   // 4 or 8 in floating-point arithmetic
  uint8_t divide_bytes = 0;  // in integer division
  uint8_t loads = 0, stores = 0;
  uint16_t load_bytes = 0, store_bytes = 0;  // of each
  // Registers read, read for addresses, written; first all of the first kind, and so on.
  std::array<uint8_t, 3> register_counts{};
  std::vector<uint8_t> registers;
};

enum class TraceBranch : uint8_t { kNone, kConditional, kJump, kIndirect, kCall, kIndirectCall, kReturn };

// An instruction whose accesses are in the trace.
struct TraceWatched {
  uint16_t instruction = 0;  // its place in the block
  bool store = false;
  bool each_told = false;  // several accesses, or of unknown size: every access says what it is
  uint8_t bytes = 0;
};

struct TraceBlock {
  uint64_t address = 0, fall_through = 0;
  TraceBranch branch = TraceBranch::kNone;  // of its last instruction
  std::vector<TraceInstruction> instructions;
  std::vector<TraceWatched> watched;
};

struct TracePiece {
  bool window = false;            // of a window; else of the first phase
  uint64_t position_count = 0;    // instructions that this thread had run under simulation before
  uint64_t stands_for_count = 0;  // instructions of the process: those between the piece before it and this one
  uint64_t instructions_count = 0;
  std::string events;  // see TraceReader
};

struct ProcessTrace {
  std::string program;  // name of its file
  std::string instruction_set;
  std::vector<std::string> classes;
  std::vector<TraceBlock> blocks;
  std::vector<TracePiece> pieces;

  uint64_t instructions_count() const;  // of all pieces
};

struct Trace {
  std::string program;
  std::vector<std::string> command;
  std::vector<ProcessTrace> processes;
  std::map<std::string, double, std::less<>> counts = {};  // of the whole run, by metric; empty in older files
};

// Where a line was found by the caches and TLBs of the profile, warm as they were: the smallest size that held it.
// Bytes; 0: memory; absent: in none up to 64 KiB, and not among the lines followed further.
std::optional<uint64_t> trace_cache_bytes(uint8_t found);
// Entries of the smallest TLB that held the page (64, 1536, 2048); 0: none.
uint32_t trace_tlb_entries(uint8_t found);

struct TraceAccess {
  uint16_t instruction = 0;  // its place in the block
  bool store = false;
  uint8_t bytes = 0;
  uint8_t found = 0;
  uint64_t address = 0;
};

// One execution of a block.
struct TraceStep {
  uint32_t block = 0;  // index
  bool again = false;  // one more iteration of the repeated string instruction that the step before was: no instruction
  bool mispredicted = false;             // its branch, by the predictors of the profile
  std::optional<uint64_t> next_address;  // where it went; absent at the end of a piece
  std::vector<TraceAccess> accesses;     // in program order
};

// Goes through a piece. Both must outlive it.
class TraceReader {
 public:
  TraceReader(const ProcessTrace& process, const TracePiece& piece);
  // False at the end, and where the events don't fit the blocks: ok() tells.
  bool next(TraceStep& step);
  bool ok() const { return ok_; }

 private:
  bool read_event(uint64_t& number);
  bool read_number(uint64_t& value);
  bool read_byte(uint8_t& value);
  bool read_access(uint64_t number, TraceStep& step);

  const ProcessTrace& process_;
  std::string_view left_;
  bool ok_ = true;
  std::optional<uint64_t> ahead_;                 // the event after the step
  std::vector<std::vector<uint64_t>> addresses_;  // latest, by block and watched instruction
};

// What the plugin wrote of one process; every event is checked. Error "bad-trace".
Result<ProcessTrace> parse_process_trace(std::string_view bytes, const std::string& source);

// A file of perfcast.trace/1, compressed. Reading checks all of it. Errors "bad-trace", "trace-version".
std::string encode_trace(const Trace& trace);
Result<Trace> decode_trace(std::string_view bytes, const std::string& source);
Status write_trace(const Trace& trace, const std::string& path);
Result<Trace> read_trace(const std::string& path);

}  // namespace perfcast
