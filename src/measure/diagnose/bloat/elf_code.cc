#include "measure/diagnose/bloat/elf_code.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "base/process/spawn.h"
#include "measure/diagnose/observe/symbol_file.h"

namespace perfcast::measure {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr size_t kMostSections = 65536, kMostRelocations = 50'000'000;
constexpr int kMostSymbols = 4'000'000;
constexpr size_t kMostNeeded = 4096, kMostStarts = 65536;
// Older elf.h don't know SHT_RELR.
constexpr GElf_Word kPackedRelocations = 19;

struct ElfCloser {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfCloser>;

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

// What bytes of a section are for.
uint64_t& purpose_of(std::string_view name, const GElf_Shdr& section, ElfPurposes& purposes) {
  const bool loaded = (section.sh_flags & SHF_ALLOC) != 0;
  if (begins_with_any(name, {".debug", ".zdebug", ".gdb_index", ".gnu_debug", ".stab", ".gnu.debuglto"}))
    return purposes.debugging_bytes;
  if (begins_with_any(name, {".comment", ".note", ".gnu.build", ".annobin", ".gnu.warning"}))
    return purposes.comments_bytes;
  if (begins_with_any(name, {".eh_frame", ".gcc_except_table", ".ARM.ex"})) return purposes.unwinding_bytes;
  if (!loaded) {
    const bool is_symbols = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_STRTAB;
    return is_symbols ? purposes.symbols_bytes : purposes.other_bytes;
  }
  if ((section.sh_flags & SHF_EXECINSTR) != 0) return purposes.code_bytes;
  switch (section.sh_type) {
    case SHT_DYNSYM:
    case SHT_STRTAB:
    case SHT_HASH:
    case SHT_GNU_HASH:
    case SHT_GNU_versym:
    case SHT_GNU_verneed:
    case SHT_GNU_verdef:
    case SHT_REL:
    case SHT_RELA:
    case SHT_DYNAMIC:
    case kPackedRelocations:
      return purposes.linking_bytes;
    default:
      break;
  }
  if (begins_with_any(name, {".got", ".interp"})) return purposes.linking_bytes;
  return (section.sh_flags & SHF_WRITE) != 0 ? purposes.variable_bytes : purposes.constant_bytes;
}

class ElfReader {
 public:
  ElfReader(Elf* elf, ElfCode& code) : elf_(elf), code_(code) {}
  void read() {
    GElf_Ehdr header;
    if (gelf_getehdr(elf_, &header) != nullptr) {
      machine_ = header.e_machine;
      code_.is_program = header.e_type == ET_EXEC;
    }
    read_segments();
    read_sections();
    read_dynamic();
    read_starts();
    std::sort(code_.defined.begin(), code_.defined.end());
    std::sort(code_.undefined.begin(), code_.undefined.end());
  }
  // .eh_frame and where it lies.
  const std::string& unwinding() const { return unwinding_; }
  uint64_t unwinding_address() const { return unwinding_address_; }

 private:
  void read_segments();
  void read_sections();
  void read_section(const GElf_Shdr& section, Elf_Scn* at);
  void read_relocations(const GElf_Shdr& section, Elf_Scn* at);
  void read_symbols(const GElf_Shdr& section, Elf_Scn* at);
  void read_dynamic();
  void read_versions(const GElf_Shdr& section, Elf_Scn* at);
  void read_starts();
  static std::string_view bytes_of(Elf_Scn* section) {
    const Elf_Data* const data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const char*>(data->d_buf), data->d_size};
  }
  std::string text_at(size_t table, size_t offset) const {
    const char* const text = elf_strptr(elf_, table, offset);
    return text == nullptr ? std::string() : std::string(text);
  }

  struct Array {
    uint64_t address = 0, bytes = 0;
    std::string_view content;
  };

  Elf* elf_;
  ElfCode& code_;
  GElf_Half machine_ = 0;
  Elf_Scn* dynamic_ = nullptr;
  GElf_Shdr dynamic_header_{};
  std::vector<Array> arrays_;                             // of constructors and destructors
  std::vector<std::pair<uint64_t, uint64_t>> relatives_;  // relocations: place, target
  std::string unwinding_;
  uint64_t unwinding_address_ = 0;
};

void ElfReader::read_segments() {
  size_t count = 0;
  if (elf_getphdrnum(elf_, &count) != 0) return;
  for (size_t i = 0; i < std::min(count, kMostSections); ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf_, static_cast<int>(i), &segment) == nullptr) continue;
    if (segment.p_type == PT_INTERP && segment.p_offset < code_.file_bytes) {
      const Elf_Data* const data = elf_getdata_rawchunk(elf_, static_cast<int64_t>(segment.p_offset),
                                                        std::min<size_t>(segment.p_filesz, size_t{4096}), ELF_T_BYTE);
      if (data != nullptr && data->d_buf != nullptr) {
        const auto* const text = static_cast<const char*>(data->d_buf);
        code_.loader = std::string(text, strnlen(text, data->d_size));
      }
      code_.is_program = true;
    }
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || segment.p_filesz == 0) continue;
    if (segment.p_offset > code_.file_bytes || segment.p_filesz > code_.file_bytes - segment.p_offset) continue;
    code_.segments.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz, ""});
  }
  std::sort(code_.segments.begin(), code_.segments.end(),
            [](const ElfPiece& a, const ElfPiece& b) { return a.offset < b.offset; });
  uint64_t end = 0;
  for (const ElfPiece& segment : code_.segments) {
    const uint64_t from = std::max(end, segment.offset / kPageBytes * kPageBytes);
    const uint64_t to = (segment.end() + kPageBytes - 1) / kPageBytes * kPageBytes;
    if (to <= from) continue;
    code_.mapped_bytes += to - from;
    end = to;
  }
}

void ElfReader::read_sections() {
  size_t names = 0, seen = 0;
  if (elf_getshdrstrndx(elf_, &names) != 0) return;
  for (Elf_Scn* at = nullptr; (at = elf_nextscn(elf_, at)) != nullptr && seen < kMostSections; ++seen) {
    GElf_Shdr section;
    if (gelf_getshdr(at, &section) == nullptr || section.sh_type == SHT_NOBITS) continue;
    if (section.sh_offset > code_.file_bytes || section.sh_size > code_.file_bytes - section.sh_offset) continue;
    const std::string name = text_at(names, section.sh_name);
    purpose_of(name, section, code_.purposes) += section.sh_size;
    if ((section.sh_flags & SHF_ALLOC) != 0 && (section.sh_flags & SHF_EXECINSTR) != 0 && section.sh_size > 0)
      code_.sections.push_back({section.sh_addr, section.sh_offset, section.sh_size, name});
    if (name == ".eh_frame") {
      unwinding_ = bytes_of(at);
      unwinding_address_ = section.sh_addr;
    }
    read_section(section, at);
  }
  std::sort(code_.sections.begin(), code_.sections.end(),
            [](const ElfPiece& a, const ElfPiece& b) { return a.offset < b.offset; });
}

void ElfReader::read_section(const GElf_Shdr& section, Elf_Scn* at) {
  const bool loaded = (section.sh_flags & SHF_ALLOC) != 0;
  switch (section.sh_type) {
    case SHT_INIT_ARRAY:
    case SHT_FINI_ARRAY:
    case SHT_PREINIT_ARRAY:
      arrays_.push_back({section.sh_addr, section.sh_size, bytes_of(at)});
      break;
    case SHT_RELA:
    case SHT_REL:
    case kPackedRelocations:
      if (loaded) read_relocations(section, at);
      break;
    case SHT_DYNSYM:
      read_symbols(section, at);
      break;
    case SHT_DYNAMIC:
      dynamic_ = at;
      dynamic_header_ = section;
      break;
    case SHT_GNU_verneed:
      read_versions(section, at);
      break;
    default:
      break;
  }
}

void ElfReader::read_relocations(const GElf_Shdr& section, Elf_Scn* at) {
  if (section.sh_type == kPackedRelocations) {
    // An address, then words of which each bit but the lowest is one of the 63 places behind.
    const std::string_view bytes = bytes_of(at);
    for (size_t i = 0; i + sizeof(uint64_t) <= bytes.size(); i += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, sizeof(word));
      code_.relocations_count += (word & 1U) == 0 ? 1 : static_cast<uint64_t>(std::popcount(word >> 1U));
    }
    return;
  }
  if (section.sh_entsize == 0) return;
  const uint64_t count = std::min<uint64_t>(section.sh_size / section.sh_entsize, kMostRelocations);
  code_.relocations_count += count;
  if (section.sh_type != SHT_RELA) return;
  Elf_Data* const data = elf_getdata(at, nullptr);
  const uint64_t relative = machine_ == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
  const uint64_t resolver = machine_ == EM_AARCH64 ? R_AARCH64_IRELATIVE : R_X86_64_IRELATIVE;
  for (uint64_t i = 0; data != nullptr && i < count; ++i) {
    GElf_Rela entry;
    if (gelf_getrela(data, static_cast<int>(i), &entry) == nullptr) break;
    const uint64_t type = GELF_R_TYPE(entry.r_info);
    if (type == relative) relatives_.emplace_back(entry.r_offset, static_cast<uint64_t>(entry.r_addend));
    if (type == resolver && code_.start_functions.size() < kMostStarts)
      code_.start_functions.push_back(static_cast<uint64_t>(entry.r_addend));
  }
}

void ElfReader::read_symbols(const GElf_Shdr& section, Elf_Scn* at) {
  Elf_Data* const data = elf_getdata(at, nullptr);
  if (data == nullptr || section.sh_entsize == 0) return;
  const uint64_t count = std::min<uint64_t>(section.sh_size / section.sh_entsize, kMostSymbols);
  for (uint64_t i = 1; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    std::string name = text_at(section.sh_link, symbol.st_name);
    if (name.empty()) continue;
    (symbol.st_shndx == SHN_UNDEF ? code_.undefined : code_.defined).push_back(std::move(name));
  }
}

void ElfReader::read_versions(const GElf_Shdr& section, Elf_Scn* at) {
  Elf_Data* const data = elf_getdata(at, nullptr);
  size_t offset = 0;
  for (size_t i = 0; data != nullptr && i < kMostNeeded && offset < data->d_size; ++i) {
    GElf_Verneed entry;
    if (gelf_getverneed(data, static_cast<int>(offset), &entry) == nullptr) break;
    code_.versions_from.push_back(text_at(section.sh_link, entry.vn_file));
    if (entry.vn_next == 0) break;
    offset += entry.vn_next;
  }
}

void ElfReader::read_dynamic() {
  if (dynamic_ == nullptr) return;
  Elf_Data* const data = elf_getdata(dynamic_, nullptr);
  for (size_t i = 0; data != nullptr && i < kMostSections; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED && code_.needed.size() < kMostNeeded)
      code_.needed.push_back(text_at(dynamic_header_.sh_link, entry.d_un.d_val));
    if (entry.d_tag == DT_SONAME) code_.own_name = text_at(dynamic_header_.sh_link, entry.d_un.d_val);
    if (entry.d_tag == DT_INIT || entry.d_tag == DT_FINI) code_.start_functions.push_back(entry.d_un.d_ptr);
  }
}

// An array's entries are what relocations make them, or what lies there already.
void ElfReader::read_starts() {
  std::sort(relatives_.begin(), relatives_.end());
  for (const Array& array : arrays_) {
    const size_t count = std::min(array.content.size() / sizeof(uint64_t), kMostStarts);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t place = array.address + i * sizeof(uint64_t);
      uint64_t target = 0;
      std::memcpy(&target, array.content.data() + i * sizeof(uint64_t), sizeof(target));
      const auto relocation =
          std::lower_bound(relatives_.begin(), relatives_.end(), std::pair<uint64_t, uint64_t>(place, 0));
      if (relocation != relatives_.end() && relocation->first == place) target = relocation->second;
      if (target != 0 && code_.start_functions.size() < kMostStarts) code_.start_functions.push_back(target);
    }
  }
}

bool by_address(const ElfFunction& a, const ElfFunction& b) {
  return a.address != b.address ? a.address < b.address : a.bytes > b.bytes;
}

// Symbols of the file, or of the separate file with its debugging information.
void add_named(const std::string& path, ElfCode& code, std::vector<ElfFunction>& functions) {
  const WithoutSymbolServers without_servers;
  const SymbolFile file(path);
  if (file.module() == nullptr) return;
  const int count = std::min(dwfl_module_getsymtab(file.module()), kMostSymbols);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = SHN_UNDEF;
    const char* const name = dwfl_module_getsym_info(file.module(), i, &symbol, &address, &section, nullptr, nullptr);
    if (name == nullptr || *name == '\0' || section == SHN_UNDEF || symbol.st_size == 0) continue;
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC) continue;
    if (GELF_ST_BIND(symbol.st_info) == STB_LOCAL) code.has_symbols = true;
    functions.push_back({demangled_name(name), address - file.bias(), symbol.st_size, type == STT_GNU_IFUNC});
    if (type == STT_GNU_IFUNC && code.start_functions.size() < kMostStarts)
      code.start_functions.push_back(functions.back().address);
  }
}

// Of aliases and overlaps the first and longest; in code alone.
std::vector<ElfFunction> apart(std::vector<ElfFunction> functions, const ElfCode& code) {
  std::stable_sort(functions.begin(), functions.end(), by_address);
  std::vector<ElfFunction> kept;
  uint64_t end = 0;
  for (ElfFunction& function : functions) {
    if (!kept.empty() && function.address < end) continue;
    const ElfPiece* const piece = code.piece_at(function.address);
    if (piece == nullptr || piece->name.starts_with(".plt") ||
        function.bytes > piece->address + piece->bytes - function.address)
      continue;
    end = function.address + function.bytes;
    kept.push_back(std::move(function));
  }
  return kept;
}

}  // namespace

const ElfPiece* ElfCode::piece_at(uint64_t address) const {
  for (const ElfPiece& piece : sections) {
    if (address >= piece.address && address - piece.address < piece.bytes) return &piece;
  }
  return nullptr;
}

const ElfFunction* ElfCode::function_at(uint64_t address) const {
  auto after = std::upper_bound(functions.begin(), functions.end(), address,
                                [](uint64_t value, const ElfFunction& of) { return value < of.address; });
  if (after == functions.begin()) return nullptr;
  const ElfFunction& before = *std::prev(after);
  return address - before.address < before.bytes ? &before : nullptr;
}

Result<ElfCode> read_elf_code(const std::string& path, bool names) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed))
    return Error{"file-not-found", "there is no such file", path, "a program or a library"};
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return Error{"file-not-readable", std::strerror(errno), path, "a file that you may read"};
  elf_version(EV_CURRENT);
  const ElfHandle elf(elf_begin(file.get(), ELF_C_READ, nullptr));
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF || gelf_getclass(elf.get()) != ELFCLASS64)
    return Error{"not-elf", "the file is no program or library of 64 bits", path, "an ELF file"};
  ElfCode code;
  code.path = path;
  code.file_bytes = std::filesystem::file_size(path, failed);
  ElfReader reader(elf.get(), code);
  reader.read();
  if (!names) return code;
  std::vector<ElfFunction> named;
  add_named(path, code, named);
  named = apart(std::move(named), code);
  // What has no name is known by its unwinding information.
  code.functions = named;
  for (ElfFunction& function : functions_of_unwinding(reader.unwinding(), reader.unwinding_address())) {
    const uint64_t last = function.address + function.bytes - 1;
    if (code.function_at(function.address) == nullptr && code.function_at(last) == nullptr)
      named.push_back(std::move(function));
  }
  code.functions = apart(std::move(named), code);
  std::sort(code.start_functions.begin(), code.start_functions.end());
  return code;
}

}  // namespace perfcast::measure
