#include "profile/collect/oclgrind/plugin/instruction.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <string_view>

namespace perfcast::kernels {

const std::array<const char*, kKinds> kKindNames = {
    "int_add", "int_mul", "int_div", "logic",   "compare", "convert", "fp_add", "fp_mul", "fp_fma",
    "fp_div",  "special", "address", "select",  "vector",  "branch",  "jump",   "query",  "load",
    "store",   "atomic",  "image",   "barrier", "fence",   "call",    "other"};

namespace {

template <size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "_Z3madfff" is "mad"; other names stay.
std::string_view plain_name(std::string_view name) {
  if (!name.starts_with("_Z")) return name;
  size_t digits = 2, length = 0;
  while (digits < name.size() && name[digits] >= '0' && name[digits] <= '9' && length < name.size())
    length = 10 * length + static_cast<size_t>(name[digits++] - '0');
  return length > 0 && length <= name.size() - digits ? name.substr(digits, length) : name;
}

constexpr std::array<std::string_view, 12> kQueries = {
    "get_global_id",           "get_local_id",          "get_group_id", "get_global_size",      "get_local_size",
    "get_num_groups",          "get_global_offset",     "get_work_dim", "get_global_linear_id", "get_local_linear_id",
    "get_enqueued_local_size", "get_sub_group_local_id"};
constexpr std::array<std::string_view, 3> kBarriers = {"barrier", "work_group_barrier", "sub_group_barrier"};
constexpr std::array<std::string_view, 4> kFences = {"mem_fence", "read_mem_fence", "write_mem_fence",
                                                     "atomic_work_item_fence"};
constexpr std::array<std::string_view, 36> kShort = {
    "fabs",     "fmin",  "fmax",  "fdim",  "floor",    "ceil",    "round",    "trunc",    "rint",
    "sign",     "min",   "max",   "clamp", "step",     "abs",     "abs_diff", "add_sat",  "sub_sat",
    "hadd",     "rhadd", "isnan", "isinf", "isfinite", "isequal", "signbit",  "select",   "bitselect",
    "copysign", "nan",   "any",   "all",   "popcount", "clz",     "rotate",   "upsample", "degrees"};
constexpr std::array<std::string_view, 5> kMultiplies = {"mul24", "mul_hi", "radians", "mix", "smoothstep"};
constexpr std::array<std::string_view, 6> kFused = {"fma", "mad", "mad24", "mad_hi", "mad_sat", "dot"};
constexpr std::array<std::string_view, 47> kSpecials = {
    "sqrt",  "rsqrt", "cbrt",   "exp",      "exp2",      "exp10", "expm1", "log",       "log2",   "log10",
    "log1p", "logb",  "pow",    "pown",     "powr",      "rootn", "sin",   "cos",       "tan",    "sinpi",
    "cospi", "tanpi", "asin",   "acos",     "atan",      "atan2", "asinh", "acosh",     "atanh",  "sinh",
    "cosh",  "tanh",  "sincos", "hypot",    "erf",       "erfc",  "fmod",  "remainder", "lgamma", "tgamma",
    "ldexp", "frexp", "length", "distance", "normalize", "cross", "modf"};

Kind by_result(const llvm::Instruction& instruction, Kind of_integers, Kind of_floats) {
  return instruction.getType()->isFPOrFPVectorTy() ? of_floats : of_integers;
}

Kind kind_of_call(const llvm::CallInst& call) {
  const llvm::Function* function = call.getCalledFunction();
  if (function == nullptr) return Kind::kCall;
  const llvm::StringRef full = function->getName();
  const std::string_view name = plain_name({full.data(), full.size()});
  if (name.starts_with("llvm.dbg.") || name.starts_with("llvm.lifetime.")) return Kind::kIgnored;
  if (!function->isDeclaration()) return Kind::kCall;
  if (name.starts_with("llvm.fmuladd.") || name.starts_with("llvm.fma.") || is_one_of(name, kFused))
    return by_result(call, Kind::kIntMul, Kind::kFpFma);
  if (name.starts_with("llvm.mem")) return Kind::kStore;
  if (is_one_of(name, kQueries)) return Kind::kQuery;
  if (is_one_of(name, kBarriers)) return Kind::kBarrier;
  if (is_one_of(name, kFences)) return Kind::kFence;
  if (name.starts_with("atom")) return Kind::kAtomic;
  if (name.starts_with("read_image") || name.starts_with("write_image")) return Kind::kImage;
  if (name.starts_with("vload") || name.starts_with("async_work_group")) return Kind::kLoad;
  if (name.starts_with("vstore")) return Kind::kStore;
  if (name.starts_with("convert_") || name.starts_with("as_")) return Kind::kConvert;
  if (is_one_of(name, kMultiplies)) return by_result(call, Kind::kIntMul, Kind::kFpMul);
  if (is_one_of(name, kShort)) return by_result(call, Kind::kIntAdd, Kind::kFpAdd);
  if (is_one_of(name, kSpecials) || name.starts_with("native_") || name.starts_with("half_")) return Kind::kSpecial;
  return Kind::kCall;
}

Kind kind_of(const llvm::Instruction& instruction) {
  using I = llvm::Instruction;
  switch (instruction.getOpcode()) {
    case I::Add:
    case I::Sub:
      return Kind::kIntAdd;
    case I::Mul:
      return Kind::kIntMul;
    case I::UDiv:
    case I::SDiv:
    case I::URem:
    case I::SRem:
      return Kind::kIntDiv;
    case I::And:
    case I::Or:
    case I::Xor:
    case I::Shl:
    case I::LShr:
    case I::AShr:
      return Kind::kLogic;
    case I::ICmp:
    case I::FCmp:
      return Kind::kCompare;
    case I::FAdd:
    case I::FSub:
    case I::FNeg:
      return Kind::kFpAdd;
    case I::FMul:
      return Kind::kFpMul;
    case I::FDiv:
    case I::FRem:
      return Kind::kFpDiv;
    case I::Trunc:
    case I::ZExt:
    case I::SExt:
    case I::FPToUI:
    case I::FPToSI:
    case I::UIToFP:
    case I::SIToFP:
    case I::FPTrunc:
    case I::FPExt:
    case I::PtrToInt:
    case I::IntToPtr:
    case I::BitCast:
    case I::AddrSpaceCast:
      return Kind::kConvert;
    case I::GetElementPtr:
      return Kind::kAddress;
    case I::PHI:
    case I::Select:
      return Kind::kSelect;
    case I::ExtractElement:
    case I::InsertElement:
    case I::ShuffleVector:
    case I::ExtractValue:
    case I::InsertValue:
      return Kind::kVector;
    case I::Br:
      return llvm::cast<llvm::BranchInst>(instruction).isConditional() ? Kind::kBranch : Kind::kJump;
    case I::Switch:
    case I::Ret:
    case I::Unreachable:
      return Kind::kJump;
    case I::Load:
      return Kind::kLoad;
    case I::Store:
      return Kind::kStore;
    case I::AtomicRMW:
    case I::AtomicCmpXchg:
      return Kind::kAtomic;
    case I::Fence:
      return Kind::kFence;
    case I::Call:
      return kind_of_call(llvm::cast<llvm::CallInst>(instruction));
    default:
      return Kind::kOther;
  }
}

Space space_of(unsigned number) {
  constexpr std::array<Space, 4> kSpaces = {Space::kPrivate, Space::kGlobal, Space::kConstant, Space::kLocal};
  return number < kSpaces.size() ? kSpaces[number] : Space::kUnknown;
}

uint32_t width_of(const llvm::Type& type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type);
  return vector == nullptr ? 1 : vector->getNumElements();
}

}  // namespace

InstructionFacts facts_of(const llvm::Instruction& instruction) {
  InstructionFacts facts;
  facts.instruction = &instruction;
  facts.opcode = instruction.getOpcode();
  facts.kind = kind_of(instruction);
  facts.width = width_of(*instruction.getType());
  facts.is_double = instruction.getType()->getScalarType()->isDoubleTy();
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    facts.space = space_of(load->getPointerAddressSpace());
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    facts.space = space_of(store->getPointerAddressSpace());
    facts.width = width_of(*store->getValueOperand()->getType());
  }
  if (facts.kind == Kind::kBranch) facts.taken = llvm::cast<llvm::BranchInst>(instruction).getSuccessor(0);
  return facts;
}

}  // namespace perfcast::kernels
