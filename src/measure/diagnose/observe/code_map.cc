#include "measure/diagnose/observe/code_map.h"

#include <capstone/capstone.h>
#include <dwarf.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "measure/diagnose/observe/instruction_work.h"
#include "measure/diagnose/observe/symbol_file.h"

namespace perfcast::measure {
namespace {

constexpr uint64_t kMostFunctionBytes = 1 << 20;
constexpr size_t kMostFileBytes = size_t{1} << 30;

// Whether a group of capstone's is among an instruction's.
bool is_in(const cs_detail& detail, uint8_t group) {
  return std::find(detail.groups, detail.groups + detail.groups_count, group) != detail.groups + detail.groups_count;
}

uint32_t x86_traits(const cs_insn& in, uint32_t& vector_bits, uint64_t& target) {
  const cs_x86& x86 = in.detail->x86;
  const std::string_view name = in.mnemonic;
  uint32_t traits = 0;
  x86_reg base = X86_REG_INVALID, target_register = X86_REG_INVALID;
  bool writes_memory = false, reads_memory = false, has_register_target = false, is_immediate = false;
  for (uint8_t i = 0; i < x86.op_count; ++i) {
    const cs_x86_op& op = x86.operands[i];
    if (op.type == X86_OP_MEM) {
      if (in.id == X86_INS_LEA || in.id == X86_INS_NOP) continue;
      writes_memory |= (op.access & CS_AC_WRITE) != 0;
      reads_memory |= (op.access & CS_AC_READ) != 0;
      base = op.mem.base;
      if (op.mem.base == X86_REG_RBP && op.mem.disp < 0) traits = traits | CodeTrait::kStackOperand;
    } else if (op.type == X86_OP_REG) {
      has_register_target |= i == 0;
      if (i == 0) target_register = op.reg;
      if (op.reg >= X86_REG_XMM0 && op.reg <= X86_REG_XMM31) vector_bits = std::max(vector_bits, 128U);
      if (op.reg >= X86_REG_YMM0 && op.reg <= X86_REG_YMM31) vector_bits = std::max(vector_bits, 256U);
      if (op.reg >= X86_REG_ZMM0 && op.reg <= X86_REG_ZMM31) vector_bits = std::max(vector_bits, 512U);
    } else if (op.type == X86_OP_IMM) {
      is_immediate = true;
    }
  }
  if (reads_memory) traits = traits | CodeTrait::kLoad;
  if (reads_memory && base != X86_REG_INVALID && base == target_register) traits = traits | CodeTrait::kAdvance;
  if (writes_memory) traits = traits | CodeTrait::kStore;
  if (in.id == X86_INS_DIV || in.id == X86_INS_IDIV) traits = traits | CodeTrait::kIntegerDivide;
  if (name.find("div") != std::string_view::npos && vector_bits > 0) traits = traits | CodeTrait::kFloatDivide;
  if (name.find("sqrt") != std::string_view::npos || name.starts_with("fdiv"))
    traits = traits | CodeTrait::kFloatDivide;
  const bool is_scalar = name.ends_with("sd") || name.ends_with("ss");
  const bool is_packed = name.ends_with("pd") || name.ends_with("ps");
  if (vector_bits > 0 && (is_scalar || is_packed) && name.find("mov") == std::string_view::npos)
    traits = traits | CodeTrait::kFloat;
  if (is_in(*in.detail, X86_GRP_FPU)) traits = traits | CodeTrait::kFloat;
  if (vector_bits > 0 && !is_scalar) traits = traits | CodeTrait::kVector;
  if (x86.prefix[0] == X86_PREFIX_LOCK || (in.id == X86_INS_XCHG && (reads_memory || writes_memory)))
    traits = traits | CodeTrait::kAtomic;
  if (x86.prefix[0] == X86_PREFIX_REP || x86.prefix[0] == X86_PREFIX_REPNE) {
    if (name.find("movs") != std::string_view::npos || name.find("stos") != std::string_view::npos)
      traits = traits | CodeTrait::kString;
  }
  if (in.id == X86_INS_PAUSE) traits = traits | CodeTrait::kPause;
  if (is_in(*in.detail, X86_GRP_JUMP)) {
    traits = traits | (in.id == X86_INS_JMP ? CodeTrait::kJump : CodeTrait::kBranch);
    if (is_immediate) target = static_cast<uint64_t>(x86.operands[0].imm);
  }
  if (is_in(*in.detail, X86_GRP_CALL)) {
    traits = traits | CodeTrait::kCall;
    // Through a table of this file it is a library's function, always the same.
    if (!is_immediate && base != X86_REG_RIP) traits = traits | CodeTrait::kIndirectCall;
  }
  if ((in.id == X86_INS_ADD || in.id == X86_INS_INC || in.id == X86_INS_SUB || in.id == X86_INS_DEC ||
       in.id == X86_INS_LEA) &&
      has_register_target)
    traits = traits | CodeTrait::kAdvance;
  return traits;
}

uint32_t arm_traits(const cs_insn& in, uint32_t& vector_bits, uint64_t& target) {
  const cs_arm64& arm = in.detail->arm64;
  const std::string_view name = in.mnemonic;
  uint32_t traits = 0;
  if (name.starts_with("ld")) traits = traits | CodeTrait::kLoad;
  if (name.starts_with("st")) traits = traits | CodeTrait::kStore;
  if (name == "sdiv" || name == "udiv") traits = traits | CodeTrait::kIntegerDivide;
  if (name == "fdiv" || name == "fsqrt") traits = traits | CodeTrait::kFloatDivide;
  if (name.starts_with("f") && !name.starts_with("fmov")) traits = traits | CodeTrait::kFloat;
  for (uint8_t i = 0; i < arm.op_count; ++i) {
    const cs_arm64_op& op = arm.operands[i];
    if (op.type == ARM64_OP_REG && op.vas != ARM64_VAS_INVALID) {
      traits = traits | CodeTrait::kVector;
      vector_bits = 128;
    }
    if (op.type == ARM64_OP_MEM && op.mem.base == ARM64_REG_SP) traits = traits | CodeTrait::kStackOperand;
    if (op.type == ARM64_OP_IMM && is_in(*in.detail, ARM64_GRP_JUMP)) target = static_cast<uint64_t>(op.imm);
  }
  if (name.starts_with("ldxr") || name.starts_with("ldaxr") || name.starts_with("cas") || name.starts_with("ldadd") ||
      name.starts_with("swp"))
    traits = traits | CodeTrait::kAtomic;
  if (name == "yield" || name == "isb") traits = traits | CodeTrait::kPause;
  if (name == "bl" || name == "blr") traits = traits | CodeTrait::kCall;
  if (name == "blr") traits = traits | CodeTrait::kIndirectCall;
  if (name == "b") traits = traits | CodeTrait::kJump;
  if (name.starts_with("b.") || name.starts_with("cb") || name.starts_with("tb")) traits = traits | CodeTrait::kBranch;
  if (name == "add" || name == "sub") traits = traits | CodeTrait::kAdvance;
  return traits;
}

}  // namespace

class CodeMap::File {
 public:
  explicit File(const std::string& path);

  // Absent where no segment holds the byte.
  bool address_of(uint64_t offset, uint64_t& address) const;
  std::string_view bytes_at(uint64_t address, uint64_t count) const;
  std::string_view bytes_before(uint64_t offset, uint64_t count) const;
  CodePlace place_of(uint64_t address) const;
  std::optional<CallFrame> frame_of(uint64_t address) const;
  bool is_arm() const { return is_arm_; }

 private:
  struct Segment {
    uint64_t offset = 0, address = 0, bytes = 0;
  };
  std::string content_;
  std::vector<Segment> segments_;
  bool is_arm_ = false;
  std::unique_ptr<SymbolFile> symbols_;  // null: no file that can be read
};

CodeMap::File::File(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return;
  auto content = read_file(path, kMostFileBytes);
  if (!content) return;
  content_ = std::move(*content);
  symbols_ = std::make_unique<SymbolFile>(path);
  Elf* const elf = symbols_->elf();
  size_t count = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return;
  GElf_Ehdr header;
  if (gelf_getehdr(elf, &header) != nullptr) is_arm_ = header.e_machine == EM_AARCH64;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr || segment.p_type != PT_LOAD) continue;
    segments_.push_back({segment.p_offset, segment.p_vaddr, segment.p_filesz});
  }
}

bool CodeMap::File::address_of(uint64_t offset, uint64_t& address) const {
  for (const Segment& segment : segments_) {
    if (offset < segment.offset || offset - segment.offset >= segment.bytes) continue;
    address = segment.address + (offset - segment.offset);
    return true;
  }
  return false;
}

std::string_view CodeMap::File::bytes_at(uint64_t address, uint64_t count) const {
  for (const Segment& segment : segments_) {
    if (address < segment.address || address - segment.address >= segment.bytes) continue;
    const uint64_t within = address - segment.address, offset = segment.offset + within;
    if (offset >= content_.size()) return {};
    return std::string_view(content_).substr(offset, std::min(count, segment.bytes - within));
  }
  return {};
}

std::string_view CodeMap::File::bytes_before(uint64_t offset, uint64_t count) const {
  if (offset > content_.size()) return {};
  const uint64_t first = offset > count ? offset - count : 0;
  return std::string_view(content_).substr(first, offset - first);
}

namespace {

// Of code that stands in place of a call, the nearest call in a file that is not the system's.
void take_line_of_call(Dwarf_Die* unit, Dwarf_Addr address, CodePlace& place) {
  // Of an address, scopes go on where the code was written; of a scope, where it stands.
  Dwarf_Die *innermost = nullptr, *scopes = nullptr;
  const bool is_known = dwarf_getscopes(unit, address, &innermost) > 0;
  const int count = is_known ? dwarf_getscopes_die(innermost, &scopes) : 0;
  std::free(innermost);
  Dwarf_Files* files = nullptr;
  if (count <= 0 || dwarf_getsrcfiles(unit, &files, nullptr) != 0) {
    std::free(scopes);
    return;
  }
  for (int i = 0; i < count; ++i) {
    Dwarf_Die* const scope = scopes + i;
    if (dwarf_tag(scope) != DW_TAG_inlined_subroutine) continue;
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    if (dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &line) != 0)
      continue;
    const char* const source = dwarf_filesrc(files, file, nullptr, nullptr);
    if (source == nullptr || is_system_source(source)) continue;
    place.source = source;
    place.line = static_cast<int>(line);
    std::free(scopes);
    return;
  }
  // Compilers don't tell of every call that they put in place: then it is somewhere in this function.
  for (int i = 0; i < count; ++i) {
    int line = 0;
    const char* const source = dwarf_tag(scopes + i) == DW_TAG_subprogram ? dwarf_decl_file(scopes + i) : nullptr;
    if (source == nullptr || is_system_source(source) || dwarf_decl_line(scopes + i, &line) != 0) continue;
    place.source = source;
    place.line = line;
    break;
  }
  std::free(scopes);
}

}  // namespace

bool is_system_source(const std::string& path) {
  for (const char* beginning :
       {"/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/", "/usr/local/go/src/", "/rustc/"}) {
    if (path.starts_with(beginning)) return true;
  }
  return path.find("/include/c++/") != std::string::npos || path.find("/.cargo/registry/") != std::string::npos;
}

CodePlace CodeMap::File::place_of(uint64_t address) const {
  CodePlace place;
  place.address = address;
  if (symbols_ == nullptr || symbols_->module() == nullptr) return place;
  const WithoutSymbolServers without_servers;
  Dwfl_Module* const module = symbols_->module();
  const GElf_Addr at = address + symbols_->bias();
  GElf_Off within = 0;
  GElf_Sym symbol;
  const char* const name = dwfl_module_addrinfo(module, at, &within, &symbol, nullptr, nullptr, nullptr);
  // The nearest symbol before an address need not cover it; one without a size covers nothing for sure.
  if (name != nullptr && within < symbol.st_size) {
    place.function = demangled_name(name);
    place.function_address = address - within;
    place.function_bytes = symbol.st_size;
  }
  if (Dwfl_Line* const line = dwfl_module_getsrc(module, at)) {
    int number = 0;
    if (const char* const source = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr)) {
      place.source = source;
      place.line = number;
    }
  }
  Dwarf_Addr bias = 0;
  if (Dwarf_Die* const unit = dwfl_module_addrdie(module, at, &bias)) {
    Dwarf_Attribute attribute;
    if (const char* const text = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute))) place.compiler = text;
    if (is_system_source(place.source)) take_line_of_call(unit, at - bias, place);
  }
  return place;
}

std::optional<CallFrame> CodeMap::File::frame_of(uint64_t address) const {
  constexpr int kFramePointer = 6, kStackPointer = 7;  // as DWARF numbers x86-64's registers
  if (is_arm_ || symbols_ == nullptr || symbols_->module() == nullptr) return std::nullopt;
  Dwarf_Addr bias = 0;
  Dwarf_CFI* const all = dwfl_module_eh_cfi(symbols_->module(), &bias);
  Dwarf_Frame* raw = nullptr;
  if (all == nullptr || dwarf_cfi_addrframe(all, address + symbols_->bias() - bias, &raw) != 0) return std::nullopt;
  const std::unique_ptr<Dwarf_Frame, decltype(&std::free)> frame(raw, &std::free);
  Dwarf_Op* end = nullptr;
  size_t steps = 0;
  if (dwarf_frame_cfa(frame.get(), &end, &steps) != 0 || steps != 1 || end->atom != DW_OP_bregx ||
      (end->number != kFramePointer && end->number != kStackPointer))
    return std::nullopt;
  CallFrame result{.is_from_frame_pointer = end->number == kFramePointer,
                   .offset_bytes = static_cast<int64_t>(end->number2),
                   .saved_frame_pointer_bytes = {}};
  std::array<Dwarf_Op, 3> room;
  Dwarf_Op* saved = nullptr;
  if (dwarf_frame_register(frame.get(), kFramePointer, room.data(), &saved, &steps) != 0) return std::nullopt;
  if (steps > 0 && saved->atom == DW_OP_call_frame_cfa && (steps == 1 || saved[1].atom == DW_OP_plus_uconst))
    result.saved_frame_pointer_bytes = steps == 1 ? 0 : static_cast<int64_t>(saved[1].number);
  return result;
}

CodeMap::CodeMap() = default;
CodeMap::~CodeMap() = default;

CodeMap::File* CodeMap::file_of(const std::string& path) {
  auto& file = files_[path];
  if (file == nullptr) file = std::make_unique<File>(path);
  return file.get();
}

const CodePlace* CodeMap::place(const std::string& path, uint64_t file_offset_bytes) {
  auto& place = places_[{path, file_offset_bytes}];
  if (place == nullptr) {
    const File* const file = file_of(path);
    uint64_t address = 0;
    if (!file->address_of(file_offset_bytes, address)) {
      places_.erase({path, file_offset_bytes});
      return nullptr;
    }
    place = std::make_unique<CodePlace>(file->place_of(address));
  }
  return place.get();
}

std::optional<CallFrame> CodeMap::call_frame(const std::string& path, uint64_t file_offset_bytes) {
  const auto [known, is_new] = frames_.try_emplace({path, file_offset_bytes});
  uint64_t address = 0;
  if (is_new && file_of(path)->address_of(file_offset_bytes, address)) known->second = file_of(path)->frame_of(address);
  return known->second;
}

bool CodeMap::address_of(const std::string& path, uint64_t file_offset_bytes, uint64_t& address) {
  return file_of(path)->address_of(file_offset_bytes, address);
}

std::vector<CodeInstruction> CodeMap::instructions(const std::string& path, uint64_t address, uint64_t bytes) {
  const File* const file = file_of(path);
  return decode_instructions(file->is_arm() ? CodeSet::kArm : CodeSet::kX86,
                             file->bytes_at(address, std::min(bytes, kMostFunctionBytes)), address);
}

std::vector<CodeInstruction> decode_instructions(CodeSet set, std::string_view code, uint64_t address) {
  std::vector<CodeInstruction> result;
  const bool arm = set == CodeSet::kArm;
  csh handle = 0;
  if (code.empty() || cs_open(arm ? CS_ARCH_ARM64 : CS_ARCH_X86, arm ? CS_MODE_ARM : CS_MODE_64, &handle) != CS_ERR_OK)
    return result;
  cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  cs_insn* const one = cs_malloc(handle);
  if (one == nullptr) {
    cs_close(&handle);
    return result;
  }
  const auto* at = reinterpret_cast<const uint8_t*>(code.data());
  size_t left = code.size();
  uint64_t where = address;
  while (cs_disasm_iter(handle, &at, &left, &where, one)) {
    CodeInstruction instruction;
    instruction.address = one->address;
    instruction.bytes = one->size;
    instruction.traits = arm ? arm_traits(*one, instruction.vector_bits, instruction.target)
                             : x86_traits(*one, instruction.vector_bits, instruction.target);
    instruction.text = std::string(one->mnemonic) + " " + one->op_str;
    if (arm) {
      describe_arm_work(handle, *one, instruction);
    } else {
      describe_x86_work(handle, *one, instruction);
    }
    result.push_back(std::move(instruction));
  }
  cs_free(one, 1);
  cs_close(&handle);
  return result;
}

bool CodeMap::follows_call(const std::string& path, uint64_t file_offset_bytes) {
  const File* const file = file_of(path);
  const std::string_view before = file->bytes_before(file_offset_bytes, 7);
  if (before.size() < 7) return false;
  const auto byte = [&](size_t back) { return static_cast<uint8_t>(before[before.size() - back]); };
  if (file->is_arm()) {
    const uint32_t word = byte(4) | static_cast<uint32_t>(byte(3)) << 8U | static_cast<uint32_t>(byte(2)) << 16U |
                          static_cast<uint32_t>(byte(1)) << 24U;
    return (word & 0xFC000000U) == 0x94000000U || (word & 0xFFFFFC1FU) == 0xD63F0000U;
  }
  if (byte(5) == 0xE8) return true;
  // FF /2, whose address takes 0, 1 or 4 bytes, with or without an index byte.
  for (const size_t length : {2, 3, 4, 6, 7}) {
    if (byte(length) == 0xFF && (byte(length - 1) >> 3U & 7U) == 2) return true;
  }
  return false;
}

}  // namespace perfcast::measure
