#pragma once
// A trace made ready for models of cores: each instruction once, as what it asks of a core, and each execution as where
// its accesses were found. The same for all designs.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "profile/core/design.h"
#include "profile/trace/trace.h"

namespace perfcast {

// What one instruction asks for. Registers as in traces.
struct CoreInstruction {
  CoreOp op = CoreOp::kNothing;
  uint8_t slots = 1;         // of renaming; microcode takes many
  uint8_t vector_bytes = 0;  // 0: no vector
  uint8_t loads = 0;         // whether told or not
  uint8_t sources = 0, addresses = 0, results = 0;
  bool vector_load = false;
  bool move = false;           // from register to register of one kind
  bool transfer = false;       // from general to vector registers, or back
  uint8_t registers[16] = {};  // sources, then addresses, then results
};

struct CoreAccess {
  uint64_t address = 0;
  uint16_t instruction = 0;  // its place in the block
  uint8_t bytes = 0;
  bool store = false;
  bool streamed = false;      // in a series of equal strides: prefetchers see it coming
  uint16_t tlb_entries = 64;  // of the smallest that held the page; 0: none did
  uint32_t held_kib = 0;      // the smallest cache that held the line; 0: memory
};

struct CoreStep {
  uint32_t block = 0;
  uint32_t accesses = 0;  // index of the first, in program order; they end where those of the next step begin
  bool again = false;     // accesses alone: a repeated string instruction goes on
  bool mispredicted = false, taken = false;
};

struct DecodedPiece {
  double stands_for_count = 0;
  uint64_t instructions_count = 0;
  std::vector<CoreStep> steps;
  std::vector<CoreAccess> accesses;
};

struct DecodedBlock {
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t first = 0, count = 0;  // of DecodedProcess::instructions
};

struct DecodedProcess {
  std::string program, instruction_set;
  std::vector<CoreInstruction> instructions;
  std::vector<DecodedBlock> blocks;
  std::vector<DecodedPiece> pieces;
};

// Where a line was found is known of a sample of the lines that miss 64 KiB; the others are taken to lie as those of
// the sample do, drawn by their address: the same in each call. Error "bad-trace" where events don't fit the blocks.
Result<DecodedProcess> decode_for_cores(const ProcessTrace& process);

}  // namespace perfcast
