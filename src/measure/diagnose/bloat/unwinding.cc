// Functions of stripped files: every function that an exception may pass has an entry in .eh_frame, with its first
// address and its length. The entries are libdw's; the addresses in them it decodes for its own searches alone. They
// are written as the LSB has it, chapter "Exception Frames".
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "measure/diagnose/bloat/elf_code.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostFunctions = 2'000'000;
constexpr unsigned kForm = 0x0F, kHow = 0x70;
constexpr unsigned char kIdentity[EI_NIDENT] = {ELFMAG0,    ELFMAG1,     ELFMAG2,   ELFMAG3,
                                                ELFCLASS64, ELFDATA2LSB, EV_CURRENT};

template <typename T>
std::optional<uint64_t> take(std::string_view& bytes) {
  T value{};
  if (bytes.size() < sizeof(T)) return std::nullopt;
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return static_cast<uint64_t>(value);
}

// A pointer's value without what it is relative to; absent where it is cut off or of variable length.
std::optional<uint64_t> take_pointer(std::string_view& bytes, unsigned encoding) {
  switch (encoding & kForm) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return take<uint64_t>(bytes);
    case DW_EH_PE_udata2:
      return take<uint16_t>(bytes);
    case DW_EH_PE_udata4:
      return take<uint32_t>(bytes);
    case DW_EH_PE_sdata2:
      return take<int16_t>(bytes);
    case DW_EH_PE_sdata4:
      return take<int32_t>(bytes);
    default:
      return std::nullopt;
  }
}

// How the entries that refer to this one write addresses; absent where it isn't known.
std::optional<unsigned> encoding_of(const Dwarf_CIE& shared) {
  std::string_view what = shared.augmentation;
  if (what.empty()) return DW_EH_PE_absptr;
  if (what[0] != 'z' || shared.augmentation_data == nullptr) return std::nullopt;
  std::string_view data(reinterpret_cast<const char*>(shared.augmentation_data), shared.augmentation_data_size);
  unsigned encoding = DW_EH_PE_absptr;
  for (const char next : what.substr(1)) {
    if (next == 'S' || next == 'B') continue;  // without data
    const auto byte = next == 'R' || next == 'L' || next == 'P' ? take<uint8_t>(data) : std::nullopt;
    if (!byte) return std::nullopt;
    if (next == 'R') encoding = static_cast<unsigned>(*byte);
    if (next == 'P' && !take_pointer(data, static_cast<unsigned>(*byte))) return std::nullopt;
  }
  return encoding;
}

}  // namespace

std::vector<ElfFunction> functions_of_unwinding(const std::string& section, uint64_t address) {
  std::vector<ElfFunction> functions;
  std::map<Dwarf_Off, std::optional<unsigned>> encodings;
  Elf_Data data{};
  data.d_buf = const_cast<char*>(section.data());
  data.d_size = section.size();
  const auto next_of = [&](Dwarf_Off at, Dwarf_Off& next, Dwarf_CFI_Entry& entry) {
    next = 0;
    return dwarf_next_cfi(kIdentity, &data, true, at, &next, &entry);
  };
  Dwarf_CFI_Entry entry;
  int found = 0;
  for (Dwarf_Off at = 0, next = 0; at < section.size() && functions.size() < kMostFunctions; at = next) {
    found = next_of(at, next, entry);
    if (found > 0 || next <= at) break;
    if (found < 0 || dwarf_cfi_cie_p(&entry)) continue;
    const Dwarf_FDE own = entry.fde;
    auto known = encodings.find(own.CIE_pointer);
    if (known == encodings.end()) {
      Dwarf_Off behind = 0;
      Dwarf_CFI_Entry shared;
      const bool is_shared =
          own.CIE_pointer < section.size() && next_of(own.CIE_pointer, behind, shared) == 0 && dwarf_cfi_cie_p(&shared);
      known = encodings.emplace(own.CIE_pointer, is_shared ? encoding_of(shared.cie) : std::nullopt).first;
    }
    if (!known->second) continue;
    const unsigned encoding = *known->second, how = encoding & kHow;
    if (how != DW_EH_PE_absptr && how != DW_EH_PE_pcrel) continue;
    const auto* const start = reinterpret_cast<const char*>(own.start);
    std::string_view bytes(start, static_cast<size_t>(own.end - own.start));
    const uint64_t field = address + static_cast<uint64_t>(start - section.data());
    const auto first = take_pointer(bytes, encoding), length = take_pointer(bytes, encoding & kForm);
    // Entries of what the linker left out begin at 0.
    if (!first || !length || *length == 0) continue;
    ElfFunction function;
    function.address = *first + (how == DW_EH_PE_pcrel ? field : 0);
    function.bytes = *length;
    if (function.address != 0) functions.push_back(std::move(function));
  }
  return functions;
}

}  // namespace perfcast::measure
