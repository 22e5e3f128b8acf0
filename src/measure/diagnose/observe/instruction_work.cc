#include "measure/diagnose/observe/instruction_work.h"

#include <capstone/capstone.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace perfcast::measure {
namespace {

constexpr int8_t kVectorRegisters = 32;  // numbers from here on are of vector registers

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

// Number of a register: general ones from 0, vector ones from kVectorRegisters; kNoRegister of all others.
using RegisterNumbers = std::array<int8_t, 700>;

RegisterNumbers x86_registers() {
  RegisterNumbers numbers;
  numbers.fill(kNoRegister);
  const std::vector<std::vector<int>> general = {{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
                                                 {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
                                                 {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
                                                 {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
                                                 {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
                                                 {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
                                                 {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
                                                 {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
                                                 {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
                                                 {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
                                                 {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
                                                 {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
                                                 {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
                                                 {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
                                                 {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
                                                 {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B}};
  int8_t number = 0;
  for (const auto& names : general) {
    for (const int name : names) numbers.at(static_cast<size_t>(name)) = number;
    ++number;
  }
  for (size_t i = 0; i < 32; ++i) {
    for (const int first : {X86_REG_XMM0, X86_REG_YMM0, X86_REG_ZMM0})
      numbers.at(static_cast<size_t>(first) + i) = static_cast<int8_t>(kVectorRegisters + i);
  }
  return numbers;
}

RegisterNumbers arm_registers() {
  RegisterNumbers numbers;
  numbers.fill(kNoRegister);
  for (size_t i = 0; i <= 28; ++i) numbers.at(ARM64_REG_X0 + i) = static_cast<int8_t>(i);
  for (size_t i = 0; i <= 30; ++i) numbers.at(ARM64_REG_W0 + i) = static_cast<int8_t>(i);
  numbers.at(ARM64_REG_FP) = 29;
  numbers.at(ARM64_REG_LR) = 30;
  numbers.at(ARM64_REG_SP) = numbers.at(ARM64_REG_WSP) = 31;
  for (size_t i = 0; i < 32; ++i) {
    for (const int first : {ARM64_REG_B0, ARM64_REG_H0, ARM64_REG_S0, ARM64_REG_D0, ARM64_REG_Q0, ARM64_REG_V0})
      numbers.at(static_cast<size_t>(first) + i) = static_cast<int8_t>(kVectorRegisters + i);
  }
  return numbers;
}

class RegisterSet {
 public:
  RegisterSet(size_t handle, const cs_insn& in, const RegisterNumbers& numbers, CodeInstruction& out)
      : numbers_(numbers) {
    cs_regs reads{}, writes{};
    uint8_t reads_count = 0, writes_count = 0;
    if (cs_regs_access(handle, &in, reads, &reads_count, writes, &writes_count) != CS_ERR_OK) return;
    for (uint8_t i = 0; i < reads_count; ++i) add(reads[i], out.general_reads, out.vector_reads);
    for (uint8_t i = 0; i < writes_count; ++i) add(writes[i], out.general_writes, out.vector_writes);
  }
  int8_t general(unsigned name) const {
    const int8_t number = name < numbers_.size() ? numbers_[name] : kNoRegister;
    return number < kVectorRegisters ? number : kNoRegister;
  }

 private:
  void add(unsigned name, uint32_t& general, uint32_t& vector) const {
    const int8_t number = name < numbers_.size() ? numbers_[name] : kNoRegister;
    if (number == kNoRegister) return;
    if (number < kVectorRegisters) {
      general |= 1U << static_cast<unsigned>(number);
    } else {
      vector |= 1U << static_cast<unsigned>(number - kVectorRegisters);
    }
  }
  const RegisterNumbers& numbers_;
};

// ---- x86-64

// "vfmadd231ps" is "fmadd231" of 32 bits, packed.
struct FloatName {
  std::string_view stem;
  uint32_t element_bits = 0;  // 0: no floating-point instruction by its name
  bool is_packed = false;
};

FloatName float_name(std::string_view name) {
  if (name.starts_with('v')) name.remove_prefix(1);
  if (name.size() < 4) return {};
  FloatName result;
  const std::string_view suffix = name.substr(name.size() - 2);
  if (suffix == "ps" || suffix == "ss") result.element_bits = 32;
  if (suffix == "pd" || suffix == "sd") result.element_bits = 64;
  if (suffix == "ph" || suffix == "sh") result.element_bits = 16;
  result.is_packed = suffix[0] == 'p';
  result.stem = name.substr(0, name.size() - 2);
  return result;
}

void count_x86_floats(std::string_view name, CodeInstruction& out) {
  const FloatName of = float_name(name);
  if (of.element_bits != 0 && out.vector_bits > 0) {
    const bool fused = begins_with_any(of.stem, {"fmadd", "fmsub", "fnmadd", "fnmsub", "fmaddsub", "fmsubadd"});
    const bool dot = of.stem == "dp";
    const bool add = is_one_of(of.stem, {"add", "sub", "addsub", "hadd", "hsub"});
    const bool multiply = of.stem == "mul";
    if (!fused && !dot && !add && !multiply &&
        !is_one_of(of.stem, {"div", "min", "max", "sqrt", "rcp", "rsqrt", "rcp14", "rsqrt14"}))
      return;
    out.element_bits = of.element_bits;
    out.lanes = of.is_packed ? out.vector_bits / of.element_bits : 1;
    out.flops = out.lanes * (fused || dot ? 2 : 1);
    out.adds = fused || dot || add;
    out.multiplies = fused || dot || multiply;
    return;
  }
  // The stack of 80-bit numbers.
  const bool add = begins_with_any(name, {"fadd", "fiadd", "fsub", "fisub"});
  const bool multiply = begins_with_any(name, {"fmul", "fimul"});
  if (!add && !multiply && name != "fsqrt" && !begins_with_any(name, {"fdiv", "fidiv"})) return;
  out.element_bits = 80;
  out.lanes = out.flops = 1;
  out.adds = add;
  out.multiplies = multiply;
}

void count_x86_integers(const cs_x86& x86, std::string_view name, CodeInstruction& out) {
  if (out.vector_bits > 0) {
    if (name.starts_with('v')) name.remove_prefix(1);
    const bool add = begins_with_any(name, {"padd", "psub"}), multiply = begins_with_any(name, {"pmul", "pmadd"});
    const bool logic = begins_with_any(name, {"pand", "por", "pxor", "ptern", "andp", "orp", "xorp", "andnp"});
    if (!add && !multiply && !logic &&
        !begins_with_any(name, {"pmin", "pmax", "pavg", "pabs", "psad", "psll", "psrl", "psra", "pcmp", "psign"}))
      return;
    const char unit = name.back();
    out.element_bits = logic ? 32 : unit == 'b' ? 8 : unit == 'w' ? 16 : unit == 'q' ? 64 : 32;
    out.lanes = out.vector_bits / out.element_bits;
    out.adds = add;
    out.multiplies = multiply;
    return;
  }
  const bool add = is_one_of(name, {"add", "sub", "adc", "sbb", "inc", "dec", "neg"}),
             multiply = is_one_of(name, {"imul", "mul", "mulx"});
  if (!add && !multiply &&
      !is_one_of(name, {"and", "or", "xor", "not", "shl", "shr", "sar", "sal", "rol", "ror", "andn", "popcnt", "bswap",
                        "shld", "shrd", "shlx", "shrx", "sarx", "rorx"}))
    return;
  out.lanes = 1;
  out.element_bits = x86.op_count > 0 ? uint32_t{8} * x86.operands[0].size : 64;
  out.adds = add;
  out.multiplies = multiply;
}

bool is_x86_gather(std::string_view name) { return name.find("gather") != std::string_view::npos; }
bool is_x86_scatter(std::string_view name) { return name.find("scatter") != std::string_view::npos; }

void add_x86_memory(const cs_x86& x86, std::string_view name, const RegisterSet& registers, CodeInstruction& out) {
  for (uint8_t i = 0; i < x86.op_count; ++i) {
    const cs_x86_op& op = x86.operands[i];
    if (op.type != X86_OP_MEM) continue;
    uint32_t bytes = op.size;
    // Each element of a register lies somewhere else.
    if (is_x86_gather(name) || is_x86_scatter(name)) bytes = out.vector_bits / 8;
    const bool writes = op.access != 0 ? (op.access & CS_AC_WRITE) != 0 : i == 0;
    const bool reads = op.access != 0 ? (op.access & CS_AC_READ) != 0 : i > 0;
    if (reads) out.loaded_bytes += bytes;
    if (writes) out.stored_bytes += bytes;
    if (out.memory.is_there) continue;
    out.memory.is_there = true;
    out.memory.base = registers.general(op.mem.base);
    // An index of several lanes is none that a general register holds.
    out.memory.index = registers.general(op.mem.index);
    out.memory.factor = op.mem.scale;
    out.memory.constant = op.mem.disp;
  }
  if (name.starts_with("push")) out.stored_bytes += 8;
  if (name.starts_with("pop") && name != "popcnt") out.loaded_bytes += 8;
  if (name == "call") out.stored_bytes += 8;
  if (name == "ret") out.loaded_bytes += 8;
}

// The linear changes that compilers step through memory with.
void add_x86_change(const cs_insn& in, std::string_view name, const RegisterSet& registers, CodeInstruction& out) {
  const cs_x86& x86 = in.detail->x86;
  RegisterChange& change = out.change;
  if (x86.op_count == 0 || x86.operands[0].type != X86_OP_REG) return;
  change.target = registers.general(x86.operands[0].reg);
  if (change.target == kNoRegister || (out.general_writes & ~(1U << static_cast<unsigned>(change.target))) != 0) return;
  const cs_x86_op& target = x86.operands[0];
  const cs_x86_op* const source = x86.op_count > 1 ? &x86.operands[1] : nullptr;
  const int8_t from = source != nullptr && source->type == X86_OP_REG ? registers.general(source->reg) : kNoRegister;
  const bool by_constant = source != nullptr && source->type == X86_OP_IMM;
  // Of 8 or 16 bits: the rest of the register stays.
  if (target.size < 4) return;
  change.is_linear = true;
  if (is_one_of(name, {"inc", "dec"})) {
    change.first = change.target;
    change.first_factor = 1;
    change.constant = name == "inc" ? 1 : -1;
  } else if (is_one_of(name, {"add", "sub"}) && (by_constant || from != kNoRegister)) {
    const int64_t sign = name == "add" ? 1 : -1;
    change.first = change.target;
    change.first_factor = 1;
    if (by_constant) change.constant = sign * source->imm;
    if (!by_constant) {
      change.second = from;
      change.second_factor = sign;
    }
  } else if (is_one_of(name, {"mov", "movabs", "movsxd", "movzx", "movsx"}) && (by_constant || from != kNoRegister)) {
    if (by_constant) change.constant = source->imm;
    if (!by_constant) {
      change.first = from;
      change.first_factor = 1;
    }
  } else if (in.id == X86_INS_CDQE) {
    change.first = change.target;
    change.first_factor = 1;
  } else if (is_one_of(name, {"shl", "sal"}) && by_constant && source->imm >= 0 && source->imm < 32) {
    change.first = change.target;
    change.first_factor = int64_t{1} << source->imm;
  } else if (in.id == X86_INS_LEA && source != nullptr) {
    change.first = registers.general(source->mem.base);
    change.second = registers.general(source->mem.index);
    change.first_factor = change.first != kNoRegister ? 1 : 0;
    change.second_factor = change.second != kNoRegister ? source->mem.scale : 0;
    change.constant = source->mem.disp;
  } else if (name == "xor" && from == change.target) {
    out.general_reads &= ~(1U << static_cast<unsigned>(from));  // it becomes 0, whatever it was
  } else {
    change.is_linear = false;
  }
}

// ---- AArch64

struct ArmOperand {
  uint32_t register_bits = 0, element_bits = 0, lanes = 0;  // 0: no register that holds numbers
};

ArmOperand arm_operand(const cs_arm64_op& op) {
  if (op.type != ARM64_OP_REG) return {};
  const auto is_in = [&](int first, int count) { return op.reg >= first && op.reg < first + count; };
  switch (op.vas) {
    case ARM64_VAS_8B:
      return {64, 8, 8};
    case ARM64_VAS_16B:
      return {128, 8, 16};
    case ARM64_VAS_4H:
      return {64, 16, 4};
    case ARM64_VAS_8H:
      return {128, 16, 8};
    case ARM64_VAS_2S:
      return {64, 32, 2};
    case ARM64_VAS_4S:
      return {128, 32, 4};
    case ARM64_VAS_1D:
      return {64, 64, 1};
    case ARM64_VAS_2D:
      return {128, 64, 2};
    default:
      break;
  }
  if (is_in(ARM64_REG_B0, 32)) return {8, 8, 1};
  if (is_in(ARM64_REG_H0, 32)) return {16, 16, 1};
  if (is_in(ARM64_REG_S0, 32)) return {32, 32, 1};
  if (is_in(ARM64_REG_D0, 32)) return {64, 64, 1};
  if (is_in(ARM64_REG_Q0, 32) || is_in(ARM64_REG_V0, 32)) return {128, 128, 1};
  if (is_in(ARM64_REG_W0, 31) || op.reg == ARM64_REG_WZR || op.reg == ARM64_REG_WSP) return {32, 32, 1};
  return {64, 64, 1};
}

void count_arm_arithmetic(const cs_arm64& arm, std::string_view name, CodeInstruction& out) {
  if (arm.op_count == 0) return;
  const ArmOperand first = arm_operand(arm.operands[0]);
  const bool fused = is_one_of(name, {"fmadd", "fmsub", "fnmadd", "fnmsub", "fmla", "fmls"});
  const bool add = is_one_of(name, {"fadd", "fsub", "fabd", "faddp"}), multiply = is_one_of(name, {"fmul", "fnmul"});
  const bool other = is_one_of(name, {"fdiv", "fsqrt", "fmax", "fmin", "fmaxnm", "fminnm"});
  if (fused || add || multiply || other) {
    out.lanes = std::max(1U, first.lanes);
    out.element_bits = first.element_bits;
    out.flops = out.lanes * (fused ? 2 : 1);
    out.adds = fused || add;
    out.multiplies = fused || multiply;
    return;
  }
  const bool sums = is_one_of(name, {"add", "sub", "adds", "subs", "neg"});
  const bool products = is_one_of(name, {"mul", "madd", "msub", "mla", "mls"});
  if (!sums && !products &&
      !is_one_of(name, {"and", "orr", "eor", "bic", "lsl", "lsr", "asr", "shl", "ushr", "sshr", "smax", "smin", "umax",
                        "umin", "cmeq", "cmgt", "cnt", "abs"}))
    return;
  out.lanes = std::max(1U, first.lanes);
  out.element_bits = first.element_bits;
  out.adds = sums || is_one_of(name, {"madd", "msub", "mla", "mls"});
  out.multiplies = products;
}

void add_arm_memory(const cs_arm64& arm, std::string_view name, const RegisterSet& registers, CodeInstruction& out) {
  const bool loads = name.starts_with("ld") || name.starts_with("cas") || name.starts_with("swp");
  const bool stores = name.starts_with("st") || name.starts_with("cas") || name.starts_with("swp");
  if (!loads && !stores) return;
  uint32_t bytes = 0;
  for (uint8_t i = 0; i < arm.op_count; ++i) {
    const cs_arm64_op& op = arm.operands[i];
    if (op.type == ARM64_OP_MEM) {
      out.memory.is_there = true;
      out.memory.base = registers.general(op.mem.base);
      out.memory.index = registers.general(op.mem.index);
      out.memory.factor = op.shift.type == ARM64_SFT_LSL ? int64_t{1} << std::min(op.shift.value, 31U) : 1;
      out.memory.constant = op.mem.disp;
      break;
    }
    // The status of an exclusive store comes before what it stores.
    if (i == 0 && begins_with_any(name, {"stxr", "stlxr", "stxp", "stlxp"})) continue;
    bytes += arm_operand(op).register_bits / 8;
  }
  if (!out.memory.is_there) return;  // of a constant beside the code
  if (name.ends_with('b')) bytes = 1;
  if (name.ends_with('h')) bytes = 2;
  if (name.ends_with("sw") || name == "ldpsw") bytes = name == "ldpsw" ? 8 : 4;
  if (loads) out.loaded_bytes = bytes;
  if (stores) out.stored_bytes = bytes;
}

void add_arm_change(const cs_arm64& arm, std::string_view name, const RegisterSet& registers, CodeInstruction& out) {
  RegisterChange& change = out.change;
  if (arm.op_count < 2 || arm.operands[0].type != ARM64_OP_REG) return;
  change.target = registers.general(arm.operands[0].reg);
  if (change.target == kNoRegister || (out.general_writes & ~(1U << static_cast<unsigned>(change.target))) != 0) return;
  const cs_arm64_op &a = arm.operands[1], &b = arm.operands[arm.op_count > 2 ? 2 : 1];
  const int8_t first = a.type == ARM64_OP_REG ? registers.general(a.reg) : kNoRegister;
  if (name == "mov" && (first != kNoRegister || a.type == ARM64_OP_IMM)) {
    change.is_linear = true;
    change.first = first;
    change.first_factor = first != kNoRegister ? 1 : 0;
    change.constant = a.type == ARM64_OP_IMM ? a.imm : 0;
  } else if (is_one_of(name, {"add", "sub", "adds", "subs"}) && arm.op_count > 2 && first != kNoRegister) {
    const int64_t sign = name.starts_with("add") ? 1 : -1;
    const int64_t factor = b.shift.type == ARM64_SFT_LSL ? int64_t{1} << std::min(b.shift.value, 31U) : 1;
    change.is_linear = b.type == ARM64_OP_IMM || b.shift.type == ARM64_SFT_INVALID || b.shift.type == ARM64_SFT_LSL;
    change.first = first;
    change.first_factor = 1;
    if (b.type == ARM64_OP_IMM) change.constant = sign * factor * b.imm;
    if (b.type == ARM64_OP_REG) {
      change.second = registers.general(b.reg);
      change.second_factor = sign * factor;
      change.is_linear &= change.second != kNoRegister;
    }
  } else if (name == "lsl" && first != kNoRegister && b.type == ARM64_OP_IMM && b.imm >= 0 && b.imm < 32) {
    change.is_linear = true;
    change.first = first;
    change.first_factor = int64_t{1} << b.imm;
  }
}

}  // namespace

void describe_x86_work(size_t handle, const cs_insn& in, CodeInstruction& instruction) {
  static const RegisterNumbers kNumbers = x86_registers();
  const RegisterSet registers(handle, in, kNumbers, instruction);
  const cs_x86& x86 = in.detail->x86;
  // A prefix is part of capstone's name of an instruction.
  std::string_view name = in.mnemonic;
  name = name.substr(name.rfind(' ') == std::string_view::npos ? 0 : name.rfind(' ') + 1);
  const bool is_string = begins_with_any(name, {"movs", "stos", "cmps", "lods", "scas"}) &&
                         instruction.vector_bits == 0 && !name.starts_with("movsx");
  instruction.is_repeated = is_string && (x86.prefix[0] == X86_PREFIX_REP || x86.prefix[0] == X86_PREFIX_REPE ||
                                          x86.prefix[0] == X86_PREFIX_REPNE);
  if (in.id == X86_INS_LEA || in.id == X86_INS_NOP || name.starts_with("prefetch") || name.starts_with("clflush")) {
    add_x86_change(in, name, registers, instruction);
    return;
  }
  count_x86_floats(name, instruction);
  if (instruction.flops == 0 && !is_string) count_x86_integers(x86, name, instruction);
  add_x86_memory(x86, name, registers, instruction);
  add_x86_change(in, name, registers, instruction);
  // What is combined with itself so becomes 0, whatever it was.
  const bool clears = begins_with_any(name, {"pxor", "vpxor", "xorps", "xorpd", "vxorps", "vxorpd"}) &&
                      x86.op_count >= 2 && x86.operands[x86.op_count - 1].type == X86_OP_REG &&
                      x86.operands[x86.op_count - 2].type == X86_OP_REG &&
                      x86.operands[x86.op_count - 1].reg == x86.operands[x86.op_count - 2].reg;
  if (!clears) return;
  instruction.vector_reads = 0;
  instruction.lanes = 0;
}

void describe_arm_work(size_t handle, const cs_insn& in, CodeInstruction& instruction) {
  static const RegisterNumbers kNumbers = arm_registers();
  const RegisterSet registers(handle, in, kNumbers, instruction);
  const cs_arm64& arm = in.detail->arm64;
  const std::string_view name = in.mnemonic;
  count_arm_arithmetic(arm, name, instruction);
  add_arm_memory(arm, name, registers, instruction);
  add_arm_change(arm, name, registers, instruction);
}

}  // namespace perfcast::measure
