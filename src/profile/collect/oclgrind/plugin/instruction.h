#pragma once
// What is known of an instruction of a kernel before it runs.

#include <array>
#include <cstddef>
#include <cstdint>

namespace llvm {
class BasicBlock;
class Instruction;
}  // namespace llvm

namespace perfcast::kernels {

// By what a GPU does for it.
enum class Kind : uint8_t {
  kIntAdd,  // and other short integer arithmetic
  kIntMul,
  kIntDiv,
  kLogic,  // and, or, xor, shifts
  kCompare,
  kConvert,
  kFpAdd,  // and other short floating-point arithmetic
  kFpMul,
  kFpFma,
  kFpDiv,
  kSpecial,  // square roots, logarithms, sines, ...
  kAddress,  // address arithmetic
  kSelect,   // choices without a branch
  kVector,   // moves between vectors and their parts
  kBranch,   // conditional
  kJump,     // unconditional, and returns
  kQuery,    // the item asks for its place
  kLoad,
  kStore,
  kAtomic,
  kImage,
  kBarrier,
  kFence,
  kCall,  // of a function of the program, or one that isn't known
  kOther,
  kIgnored,  // for debuggers: not counted
};
inline constexpr size_t kKinds = static_cast<size_t>(Kind::kIgnored);
// Keys of the counts that the plugin writes.
extern const std::array<const char*, kKinds> kKindNames;

enum class Space : uint8_t { kPrivate, kGlobal, kConstant, kLocal, kUnknown };

struct InstructionFacts {
  const llvm::Instruction* instruction = nullptr;
  uint32_t number = 0;  // in the order of their first executions
  uint32_t opcode = 0;
  Kind kind = Kind::kOther;
  Space space = Space::kUnknown;            // that a load or store names
  uint32_t width = 1;                       // data items of its result, or of what it stores
  bool is_double = false;                   // floating point of 64 bits
  const llvm::BasicBlock* taken = nullptr;  // where a conditional branch goes if it is taken
};

InstructionFacts facts_of(const llvm::Instruction& instruction);

}  // namespace perfcast::kernels
