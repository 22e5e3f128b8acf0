#pragma once
// What stands at an address of a program or library: function, source line, compiler (from symbols and debugging
// information, by elfutils), instructions (by capstone). Files may be stripped or damaged: what they don't say is
// empty.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perfcast::measure {

struct CodePlace {
  uint64_t address = 0;  // as the file numbers it
  std::string function;  // demangled; empty: none covers the address
  uint64_t function_address = 0, function_bytes = 0;
  // Path of the source file; empty: no debugging information. Of code of the system's headers that stands in place of a
  // call: the nearest file and line that are not theirs.
  std::string source;
  int line = 0;
  std::string compiler;  // with its options, where the debugging information tells
};

// Headers of the system, compilers and languages, and their libraries' sources: what stands there works for its caller.
bool is_system_source(const std::string& path);

// What matters of an instruction when one asks what it costs.
enum class CodeTrait : uint32_t {
  kLoad = 1U << 0U,
  kStore = 1U << 1U,
  kIntegerDivide = 1U << 2U,
  kFloatDivide = 1U << 3U,  // and square roots
  kFloat = 1U << 4U,
  kVector = 1U << 5U,  // more than one number at once
  kAtomic = 1U << 6U,
  kPause = 1U << 7U,
  kBranch = 1U << 8U,  // conditional
  kJump = 1U << 9U,
  kCall = 1U << 10U,
  kIndirectCall = 1U << 11U,
  kStackOperand = 1U << 12U,  // a local variable in memory, by the frame's pointer
  kAdvance = 1U << 13U,       // adds to a register, or follows a pointer: what steps through memory does
  kString = 1U << 14U,
};
constexpr uint32_t operator|(uint32_t a, CodeTrait b) { return a | static_cast<uint32_t>(b); }
constexpr bool has_trait(uint32_t traits, CodeTrait trait) { return (traits & static_cast<uint32_t>(trait)) != 0; }

// Registers by the number that instructions have them by: of x86-64 rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15;
// of AArch64 x0 to x30 and, 31, sp.
inline constexpr int8_t kNoRegister = -1;

// Where an operand in memory lies: base + factor * index + constant.
struct MemoryOperand {
  bool is_there = false;
  int8_t base = kNoRegister, index = kNoRegister;
  int64_t factor = 1, constant = 0;
};

// What becomes of the one general register that an instruction writes: factor * first + factor * second + constant.
struct RegisterChange {
  bool is_linear = false;  // else it is something else: loaded, multiplied, several registers
  int8_t target = kNoRegister, first = kNoRegister, second = kNoRegister;
  int64_t first_factor = 0, second_factor = 0, constant = 0;
};

struct CodeInstruction {
  uint64_t address = 0;
  uint32_t bytes = 0, traits = 0;
  uint32_t vector_bits = 0;  // of its widest register, where it computes on vectors or floats
  uint64_t target = 0;       // of a direct branch; 0: none
  std::string text;
  // What one execution does (instruction_work.h).
  uint32_t flops = 0;         // floating-point operations of all lanes, a fused multiply-add two
  uint32_t lanes = 0;         // numbers that it computes at once; 0: it is no arithmetic
  uint32_t element_bits = 0;  // of each of them
  uint32_t loaded_bytes = 0, stored_bytes = 0;
  bool is_repeated = false;               // a string instruction, that does it as often as a register says
  bool multiplies = false, adds = false;  // of arithmetic: which of both, or both at once
  // Bit N: general, vector register N.
  uint32_t general_reads = 0, general_writes = 0, vector_reads = 0, vector_writes = 0;
  MemoryOperand memory;
  RegisterChange change;
};

// How code finds the frame of its caller: the frame's end (DWARF's canonical frame address) lies so far above a
// register, and the return address right below it.
struct CallFrame {
  bool is_from_frame_pointer = false;  // rbp; else the stack pointer
  int64_t offset_bytes = 0;
  std::optional<int64_t>
      saved_frame_pointer_bytes;  // from the frame's end to where the caller's lies; absent: unchanged
};

enum class CodeSet : uint8_t { kX86, kArm };  // 64 bits, both
// Of machine code that lies at an address; up to the first bytes that are none.
std::vector<CodeInstruction> decode_instructions(CodeSet set, std::string_view code, uint64_t address);

class CodeMap {
 public:
  CodeMap();
  ~CodeMap();
  CodeMap(const CodeMap&) = delete;
  CodeMap& operator=(const CodeMap&) = delete;

  // Of a byte of the file; nullptr where the file has no code there, or can't be read. The place stays valid.
  const CodePlace* place(const std::string& path, uint64_t file_offset_bytes);
  // Where the file has this byte in memory; false where no segment holds it.
  bool address_of(const std::string& path, uint64_t file_offset_bytes, uint64_t& address);
  // Instructions of a range of addresses of the file, in order; up to the first bytes that are none.
  std::vector<CodeInstruction> instructions(const std::string& path, uint64_t address, uint64_t bytes);
  // Whether the instruction before this byte of the file is a call: a word on a stack that says so is a return address.
  bool follows_call(const std::string& path, uint64_t file_offset_bytes);
  // Of code at this byte of the file (x86-64; DWARF 5, section 6.4). nullopt where the file doesn't say, or says more
  // than a register and an offset.
  std::optional<CallFrame> call_frame(const std::string& path, uint64_t file_offset_bytes);

 private:
  class File;
  File* file_of(const std::string& path);
  std::map<std::string, std::unique_ptr<File>> files_;
  std::map<std::pair<std::string, uint64_t>, std::unique_ptr<CodePlace>> places_;
  std::map<std::pair<std::string, uint64_t>, std::optional<CallFrame>> frames_;
};

}  // namespace perfcast::measure
