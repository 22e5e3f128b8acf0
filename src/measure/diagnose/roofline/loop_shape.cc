#include "measure/diagnose/roofline/loop_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace perfcast::measure {
namespace {

constexpr size_t kGeneralRegisters = 32, kLoopVectorRegisters = 32;

// How far a register moves from one iteration to the next; absent: not by the same each time.
using Steps = std::array<std::optional<int64_t>, kGeneralRegisters>;

uint32_t bit_of(size_t number) { return 1U << number; }

class LoopAnalysis {
 public:
  explicit LoopAnalysis(const std::vector<CodeInstruction>& loop) : loop_(loop) {}
  LoopShape run();

 private:
  void look_at_exits();
  void find_steps();
  void propagate(const CodeInstruction& of, Steps& steps) const;
  bool is_reload(const CodeInstruction& of, const Steps& steps) const;
  void find_accesses();
  void find_recurrences();
  void look_at_vectors();
  void look_at_general();
  void look_at_memory();
  void count_arithmetic();
  bool is_bookkeeping(const CodeInstruction& of) const;

  const std::vector<CodeInstruction>& loop_;
  LoopShape shape_;
  uint32_t recurrent_ = 0;           // general registers that an iteration reads before it writes them, and writes
  std::vector<Steps> steps_before_;  // each instruction
  uint32_t addresses_ = 0;           // general registers that operands in memory are found by
};

void LoopAnalysis::look_at_exits() {
  size_t conditional = 0, jumps = 0;
  for (const CodeInstruction& of : loop_) {
    conditional += has_trait(of.traits, CodeTrait::kBranch) ? 1 : 0;
    shape_.selects |= of.text.starts_with("cmov") || of.text.starts_with("set") || of.text.starts_with("csel");
    jumps += has_trait(of.traits, CodeTrait::kJump) ? 1 : 0;
    if (has_trait(of.traits, CodeTrait::kCall)) return;
  }
  const bool ends_with_branch = has_trait(loop_.back().traits, CodeTrait::kBranch);
  shape_.is_counted = conditional == 1 && jumps == (ends_with_branch ? 0 : 1);
}

// After one instruction: its target moves by what its sources move by.
void LoopAnalysis::propagate(const CodeInstruction& of, Steps& steps) const {
  std::optional<int64_t> step;
  const RegisterChange& change = of.change;
  if (change.is_linear) {
    step = 0;
    for (const auto& [source, factor] :
         {std::pair{change.first, change.first_factor}, std::pair{change.second, change.second_factor}}) {
      if (source == kNoRegister) continue;
      const auto& moved = steps.at(static_cast<size_t>(source));
      step = step && moved ? std::optional(*step + factor * *moved) : std::nullopt;
    }
  } else {
    // Of what stays as it is, whatever is computed stays as it is. So does what is read from one place again and again,
    // unless the loop writes there: the compiler could not know that.
    bool fixed = of.loaded_bytes == 0 || is_reload(of, steps);
    for (size_t number = 0; number < kGeneralRegisters; ++number)
      fixed &= (of.general_reads & bit_of(number)) == 0 || steps.at(number) == 0;
    if (fixed && of.vector_reads == 0) step = 0;
  }
  for (size_t number = 0; number < kGeneralRegisters; ++number) {
    if ((of.general_writes & bit_of(number)) != 0) steps.at(number) = step;
  }
}

bool LoopAnalysis::is_reload(const CodeInstruction& of, const Steps& steps) const {
  const MemoryOperand& from = of.memory;
  if (!from.is_there || of.loaded_bytes == 0 || of.stored_bytes > 0) return false;
  for (const int8_t name : {from.base, from.index}) {
    if (name != kNoRegister && steps.at(static_cast<size_t>(name)) != 0) return false;
  }
  return std::none_of(loop_.begin(), loop_.end(), [&](const CodeInstruction& other) {
    const MemoryOperand& to = other.memory;
    return other.stored_bytes > 0 && to.base == from.base && to.index == from.index && to.constant == from.constant;
  });
}

void LoopAnalysis::find_steps() {
  uint32_t written = 0;
  for (const CodeInstruction& of : loop_) {
    recurrent_ |= of.general_reads & ~written;
    written |= of.general_writes;
  }
  recurrent_ &= written;
  // Those that are only ever moved by a constant; of all other recurrent ones nothing is known.
  Steps steps;
  for (size_t number = 0; number < kGeneralRegisters; ++number) {
    steps.at(number) = 0;
    if ((recurrent_ & bit_of(number)) == 0) continue;
    int64_t sum = 0;
    bool is_step = true;
    for (const CodeInstruction& of : loop_) {
      if ((of.general_writes & bit_of(number)) == 0) continue;
      const RegisterChange& change = of.change;
      is_step &= change.is_linear && change.target == static_cast<int8_t>(number) && change.first == change.target &&
                 change.first_factor == 1 && change.second == kNoRegister;
      sum += change.constant;
    }
    steps.at(number) = is_step ? std::optional(sum) : std::nullopt;
  }
  // A register that is written before it is read holds nothing of the iteration before.
  for (size_t number = 0; number < kGeneralRegisters; ++number) {
    if ((written & bit_of(number)) != 0 && (recurrent_ & bit_of(number)) == 0) steps.at(number) = std::nullopt;
  }
  steps_before_.reserve(loop_.size());
  for (const CodeInstruction& of : loop_) {
    steps_before_.push_back(steps);
    propagate(of, steps);
  }
}

void LoopAnalysis::find_accesses() {
  struct Piece {
    int64_t from = 0, until = 0;
    uint32_t loaded = 0, stored = 0;
  };
  struct Group {
    std::optional<int64_t> step;
    std::vector<Piece> pieces;
  };
  std::map<std::tuple<int8_t, int8_t, int64_t>, Group> groups;
  // What a register was moved by within the iteration, so that operands before and after it can be compared.
  std::array<int64_t, kGeneralRegisters> moved{};
  for (size_t i = 0; i < loop_.size(); ++i) {
    const CodeInstruction& of = loop_[i];
    const MemoryOperand& memory = of.memory;
    if (memory.is_there && of.loaded_bytes + of.stored_bytes > 0) {
      std::optional<int64_t> step = 0;
      int64_t from = memory.constant;
      for (const auto& [name, factor] : {std::pair{memory.base, int64_t{1}}, std::pair{memory.index, memory.factor}}) {
        if (name == kNoRegister) continue;
        const size_t number = static_cast<uint8_t>(name);
        addresses_ |= bit_of(number);
        const auto& moves = steps_before_[i].at(number);
        step = step && moves ? std::optional(*step + factor * *moves) : std::nullopt;
        from += factor * moved.at(number);
      }
      Group& group = groups[{memory.base, memory.index, memory.index == kNoRegister ? 1 : memory.factor}];
      group.step = step;
      group.pieces.push_back(
          {from, from + std::max(of.loaded_bytes, of.stored_bytes), of.loaded_bytes, of.stored_bytes});
    }
    const RegisterChange& change = of.change;
    const bool is_step =
        change.is_linear && change.first == change.target && change.first_factor == 1 && change.second == kNoRegister;
    if (is_step) moved.at(static_cast<size_t>(change.target)) += change.constant;
  }
  for (auto& [key, group] : groups) {
    LoopAccess access;
    access.step_bytes = group.step;
    std::sort(group.pieces.begin(), group.pieces.end(), [](const Piece& a, const Piece& b) { return a.from < b.from; });
    int64_t covered = 0, until = group.pieces.front().from;
    for (const Piece& piece : group.pieces) {
      access.loaded_bytes += piece.loaded;
      access.stored_bytes += piece.stored;
      covered += std::max<int64_t>(0, piece.until - std::max(until, piece.from));
      until = std::max(until, piece.until);
    }
    const int64_t step = group.step.value_or(0);
    const int64_t length = step < 0 ? -step : step;
    access.is_in_order = step != 0 && covered >= length;
    access.is_read_once = until - group.pieces.front().from <= length;
    shape_.accesses.push_back(access);
  }
}

// A sum, a minimum or the like: in another order it comes to the same, but for rounding.
bool is_accumulation(const CodeInstruction& of) {
  if (of.lanes == 0 || has_trait(of.traits, CodeTrait::kFloatDivide)) return false;
  if (of.flops == 0) return true;
  // A fused multiply-add whose sum is the register: "231" by its name, or AArch64's.
  if (of.multiplies && of.adds)
    return of.text.find("231") != std::string::npos || of.text.starts_with("fmla") || of.text.starts_with("fmls") ||
           of.text.starts_with("fmadd");
  return !of.multiplies;
}

void LoopAnalysis::look_at_vectors() {
  uint32_t written = 0, read_first = 0;
  for (const CodeInstruction& of : loop_) {
    read_first |= of.vector_reads & ~written;
    written |= of.vector_writes;
  }
  for (size_t number = 0; number < kLoopVectorRegisters; ++number) {
    const uint32_t bit = bit_of(number);
    if ((read_first & written & bit) == 0) continue;
    for (const CodeInstruction& of : loop_) {
      const bool reads = (of.vector_reads & bit) != 0, writes = (of.vector_writes & bit) != 0;
      if (!reads && !writes) continue;
      if (!reads || !writes || !is_accumulation(of)) shape_.is_serial = true;
      shape_.has_float_sum |= of.flops > 0;
    }
  }
}

void LoopAnalysis::look_at_general() {
  for (size_t number = 0; number < kGeneralRegisters; ++number) {
    const uint32_t bit = bit_of(number);
    if ((recurrent_ & bit) == 0 || steps_before_.front().at(number)) continue;
    for (const CodeInstruction& of : loop_) {
      const bool reads = (of.general_reads & bit) != 0, writes = (of.general_writes & bit) != 0;
      if (!reads && !writes) continue;
      const bool sums = reads && writes && of.lanes == 1 && of.adds && !of.multiplies;
      if (!sums || (addresses_ & bit) != 0) shape_.is_serial = true;
    }
  }
}

// What is written and what is read of it later, both by the same step.
void LoopAnalysis::look_at_memory() {
  for (size_t i = 0; i < loop_.size(); ++i) {
    const MemoryOperand& to = loop_[i].memory;
    if (!to.is_there || loop_[i].stored_bytes == 0) continue;
    for (const CodeInstruction& of : loop_) {
      const MemoryOperand& from = of.memory;
      if (!from.is_there || of.loaded_bytes == 0 || from.base != to.base || from.index != to.index) continue;
      std::optional<int64_t> step = 0;
      for (const auto& [name, factor] : {std::pair{to.base, int64_t{1}}, std::pair{to.index, to.factor}}) {
        if (name == kNoRegister) continue;
        const auto& moves = steps_before_[i].at(static_cast<size_t>(name));
        step = step && moves ? std::optional(*step + factor * *moves) : std::nullopt;
      }
      // A variable in memory, or a place that the iteration before wrote.
      const int64_t behind = to.constant - from.constant;
      if (!step || *step == 0 || (behind != 0 && behind % *step == 0 && behind / *step > 0)) shape_.is_serial = true;
    }
  }
}

bool LoopAnalysis::is_bookkeeping(const CodeInstruction& of) const {
  if (of.vector_reads != 0 || of.vector_writes != 0) return false;
  const RegisterChange& change = of.change;
  if (change.target == kNoRegister) return of.stored_bytes == 0;
  const size_t number = static_cast<uint8_t>(change.target);
  const bool is_step = change.is_linear && change.first == change.target && change.second == kNoRegister;
  return is_step || (addresses_ & bit_of(number)) != 0;
}

void LoopAnalysis::count_arithmetic() {
  const bool is_float = std::any_of(loop_.begin(), loop_.end(), [](const CodeInstruction& of) { return of.flops > 0; });
  std::map<uint32_t, uint32_t> by_bits, by_element;
  for (const CodeInstruction& of : loop_) {
    if (of.lanes == 0 || (is_float ? of.flops == 0 : is_bookkeeping(of))) continue;
    shape_.flops_count += of.flops;
    if (!is_float) shape_.operations_count += of.lanes;
    by_bits[of.lanes > 1 ? of.vector_bits : 0] += of.lanes;
    by_element[of.element_bits] += of.lanes;
    shape_.multiplies |= of.multiplies;
    shape_.adds |= of.adds;
    shape_.does_more |= !of.multiplies && !of.adds;
  }
  const auto most = [](const std::map<uint32_t, uint32_t>& counts) {
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  };
  if (by_bits.empty()) return;
  shape_.register_bits = most(by_bits);
  shape_.element_bits = most(by_element);
  if (is_float || shape_.register_bits > 0) return;
  // Whole numbers are computed with in registers that may be wider than they are in memory; a product of 64 bits is
  // one.
  uint32_t widest = 0;
  for (const CodeInstruction& of : loop_) {
    if (of.multiplies && of.lanes == 1 && of.element_bits == 64 && !is_bookkeeping(of)) widest = 64;
  }
  for (size_t i = 0; i < loop_.size(); ++i) {
    const CodeInstruction& of = loop_[i];
    const uint32_t bytes = std::max(of.loaded_bytes, of.stored_bytes);
    // Addresses and bounds that are read again are none of the numbers.
    if (of.memory.is_there && (of.lanes > 0 || !is_reload(of, steps_before_[i]))) widest = std::max(widest, 8 * bytes);
  }
  if (widest > 0) shape_.element_bits = std::min(std::max(widest, 8U), 64U);
}

LoopShape LoopAnalysis::run() {
  if (loop_.empty()) return shape_;
  look_at_exits();
  find_steps();
  find_accesses();
  look_at_vectors();
  look_at_general();
  look_at_memory();
  count_arithmetic();
  const bool stores =
      std::any_of(loop_.begin(), loop_.end(), [](const CodeInstruction& of) { return of.stored_bytes > 0; });
  for (size_t i = 0; stores && i < loop_.size(); ++i)
    shape_.reloads_count += is_reload(loop_[i], steps_before_[i]) ? 1 : 0;
  return shape_;
}

}  // namespace

LoopShape loop_shape(const std::vector<CodeInstruction>& loop) { return LoopAnalysis(loop).run(); }

std::string LoopShape::in_words() const {
  if (element_bits == 0) return "no arithmetic";
  const char* const what = flops_count > 0 ? "floating-point number" : "number";
  if (register_bits == 0) return fmt::format("one {} of {} bits at a time", what, element_bits);
  return fmt::format("{} {}s of {} bits at a time, in registers of {} bits", register_bits / element_bits, what,
                     element_bits, register_bits);
}

bool LoopShape::could_be_wider() const {
  if (!is_counted || is_serial || selects || element_bits == 0 || element_bits > 64) return false;
  if (flops_count == 0 && multiplies && element_bits == 64) return false;
  bool moves = false;
  for (const LoopAccess& access : accesses) {
    if (access.is_fixed() && access.stored_bytes == 0) continue;
    if (!access.is_in_order || !access.is_read_once) return false;
    moves = true;
  }
  return moves;
}

}  // namespace perfcast::measure
