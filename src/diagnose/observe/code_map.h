#pragma once
// What stands at an address of a program or library: function, source line, compiler (from symbols and debugging
// information, by elfutils), instructions (by capstone). Files may be stripped or damaged: what they don't say is
// empty.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace perfcast {

struct CodePlace {
  uint64_t address = 0;  // as the file numbers it
  std::string function;  // demangled; empty: none covers the address
  uint64_t function_address = 0, function_bytes = 0;
  std::string source;  // path of the source file; empty: no debugging information
  int line = 0;
  std::string compiler;  // with its options, where the debugging information tells
};

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

struct CodeInstruction {
  uint64_t address = 0;
  uint32_t bytes = 0, traits = 0;
  uint32_t vector_bits = 0;  // of its widest register, where it computes on vectors or floats
  uint64_t target = 0;       // of a direct branch; 0: none
  std::string text;
};

class CodeMap {
 public:
  CodeMap();
  ~CodeMap();
  CodeMap(const CodeMap&) = delete;
  CodeMap& operator=(const CodeMap&) = delete;

  // Of a byte of the file; nullptr where the file has no code there, or can't be read. The place stays valid.
  const CodePlace* place(const std::string& path, uint64_t file_offset_bytes);
  // Instructions of a range of addresses of the file, in order; up to the first bytes that are none.
  std::vector<CodeInstruction> instructions(const std::string& path, uint64_t address, uint64_t bytes);
  // Whether the instruction before this byte of the file is a call: a word on a stack that says so is a return address.
  bool follows_call(const std::string& path, uint64_t file_offset_bytes);

 private:
  class File;
  File* file_of(const std::string& path);
  std::map<std::string, std::unique_ptr<File>> files_;
  std::map<std::pair<std::string, uint64_t>, std::unique_ptr<CodePlace>> places_;
};

}  // namespace perfcast
