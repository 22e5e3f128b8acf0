#include "profile/collect/qemu/wider_code.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr size_t kScannedPageBytes = 4096;
constexpr size_t kLeastOfPage = 4, kLeastOfFile = 8;
constexpr size_t kLongestBytes = 16;  // no instruction is longer
constexpr size_t kMostFileBytes = size_t{1} << 29;
constexpr size_t kMostSegments = 64;
// Of the instructions: less is not looked into, and less is not told.
constexpr double kLeastOfRun = 0.002, kLeastTold = 0.02;
constexpr size_t kFilesTold = 3;

enum class Kind { kNone, kAvx512, kVnni512, kVnni, kAmx };

struct Instruction {
  Kind kind = Kind::kNone;
  size_t bytes = 0;
};

using Code = const unsigned char*;

// What stands behind an opcode: ModRM, SIB and displacement.
size_t operand_bytes(Code modrm) {
  const unsigned mod = *modrm >> 6U, rm = *modrm & 7U;
  if (mod == 3) return 1;
  const bool has_sib = rm == 4;
  const bool is_absolute = mod == 0 && (has_sib ? (modrm[1] & 7U) == 5 : rm == 5);
  return 1 + (has_sib ? 1 : 0) + (mod == 1 ? 1 : mod == 2 || is_absolute ? 4 : 0);
}

bool is_text(Code from, size_t bytes) {
  return std::all_of(from, from + bytes, [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

// Names of symbols in executable segments are full of 'b', which is 0x62: bytes that are all text are none.
Instruction evex_instruction(Code at) {
  const unsigned p0 = at[1], p1 = at[2], p2 = at[3], opcode = at[4], map = p0 & 7U;
  if ((p0 & 8U) != 0 || map < 1 || map > 3 || (p1 & 4U) == 0 || is_text(at, 5)) return {};
  const bool zeroes = (p2 & 0x80U) != 0, has_mask = (p2 & 7U) != 0, has_bit = (p2 & 0x10U) != 0;
  const unsigned width = p2 >> 5U & 3U;
  if ((zeroes && !has_mask) || (width == 3 && !has_bit)) return {};
  const bool has_immediate =
      map == 3 ||
      (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6)));
  const bool is_vnni = map == 2 && opcode >= 0x50 && opcode <= 0x53 && (p1 & 0x83U) == 1;
  const Kind kind = width == 2 ? (is_vnni ? Kind::kVnni512 : Kind::kAvx512) : is_vnni ? Kind::kVnni : Kind::kNone;
  return {kind, 5 + operand_bytes(at + 5) + (has_immediate ? 1 : 0)};
}

// Of the three-byte form of VEX, which both sets use.
Instruction vex_instruction(Code at) {
  const unsigned map = at[1] & 0x1fU, p1 = at[2], prefix = p1 & 3U, opcode = at[3];
  const bool is_wide = (p1 & 0x80U) != 0, is_256 = (p1 & 4U) != 0;
  if (map != 2 || is_wide) return {};
  const size_t bytes = 4 + operand_bytes(at + 4);
  const bool on_registers = at[4] >> 6U == 3;
  if (opcode >= 0x50 && opcode <= 0x53 && prefix == 1) return {Kind::kVnni, bytes};
  if (is_256) return {};
  const bool multiplies = on_registers && (opcode == 0x5e || (opcode == 0x5c && prefix >= 2));
  const bool moves = opcode == 0x4b && prefix >= 1 && !on_registers && (at[4] & 7U) == 4;
  const bool clears = opcode == 0x49 && prefix == 3 && on_registers;
  return multiplies || moves || clears ? Instruction{Kind::kAmx, bytes} : Instruction{};
}

Instruction instruction_at(Code at) {
  return *at == 0x62 ? evex_instruction(at) : *at == 0xc4 ? vex_instruction(at) : Instruction{};
}

bool is_avx512(Kind kind) { return kind == Kind::kAvx512 || kind == Kind::kVnni512; }
bool is_vnni(Kind kind) { return kind == Kind::kVnni || kind == Kind::kVnni512; }

void add_page(const WiderInstructions& page, WiderInstructions& sum) {
  if (page.avx512_count >= kLeastOfPage) sum.avx512_count += page.avx512_count;
  if (page.vnni_count >= kLeastOfPage) sum.vnni_count += page.vnni_count;
  if (page.amx_count >= kLeastOfPage) sum.amx_count += page.amx_count;
}

void add(const WiderInstructions& more, WiderInstructions& sum) {
  sum.avx512_count += more.avx512_count;
  sum.vnni_count += more.vnni_count;
  sum.amx_count += more.amx_count;
}

bool is_c_library(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  // libmvec: which of its variants runs was decided when its caller was compiled.
  return name.starts_with("libc.so") || name.starts_with("libc-2.") || name.starts_with("libc.musl") ||
         name.starts_with("libm.so") || name.starts_with("libm-2.") || name.starts_with("libmvec") ||
         name.starts_with("ld-");
}

struct Found {
  std::string what;
  double ratio = 0;
};

}  // namespace

WiderInstructions wider_instructions(std::string_view code) {
  WiderInstructions sum;
  for (size_t begin = 0; begin + 2 * kLongestBytes <= code.size(); begin += kScannedPageBytes) {
    WiderInstructions page;
    const size_t end = std::min(begin + kScannedPageBytes, code.size() - 2 * kLongestBytes + 1);
    const Code bytes = reinterpret_cast<Code>(code.data());
    for (size_t i = begin; i < end; ++i) {
      const Instruction first = instruction_at(bytes + i);
      if (first.kind == Kind::kNone) continue;
      const Kind next = instruction_at(bytes + i + first.bytes).kind;
      page.avx512_count += is_avx512(first.kind) && is_avx512(next) ? 1 : 0;
      page.vnni_count +=
          (is_vnni(first.kind) && next != Kind::kNone) || (first.kind != Kind::kAmx && is_vnni(next)) ? 1 : 0;
      page.amx_count += first.kind == Kind::kAmx && next == Kind::kAmx ? 1 : 0;
    }
    add_page(page, sum);
  }
  return sum;
}

std::optional<WiderInstructions> wider_instructions_of_file(std::string_view file) {
  Elf64_Ehdr header;
  if (file.size() < sizeof header || !file.starts_with(ELFMAG)) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64 ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return std::nullopt;
  WiderInstructions sum;
  for (size_t i = 0; i < std::min<size_t>(header.e_phnum, kMostSegments); ++i) {
    Elf64_Phdr segment;
    if (header.e_phoff > file.size() || file.size() - header.e_phoff < (i + 1) * sizeof segment) break;
    std::memcpy(&segment, file.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || segment.p_offset > file.size()) continue;
    add(wider_instructions(file.substr(segment.p_offset, segment.p_filesz)), sum);
  }
  return sum;
}

WiderCode find_wider_code(const std::vector<ExecutedFile>& files, double instructions_count) {
  WiderCode result;
  if (files.empty() || !(instructions_count > 0)) {
    result.missing = "which files ran is not known";
    return result;
  }
  std::map<std::string, ExecutedFile> by_path;
  for (const ExecutedFile& file : files) {
    ExecutedFile& sum = by_path[file.path];
    sum.path = file.path;
    sum.vector_count += file.vector_count;
  }
  double vector = 0, wider = 0, vnni = 0, amx = 0, made = 0;
  std::vector<Found> found;
  for (const auto& [path, file] : by_path) {
    if (!is_c_library(path)) vector += file.vector_count;
    if (is_c_library(path) || file.vector_count < kLeastOfRun * instructions_count) continue;
    const double ratio = file.vector_count / instructions_count;
    if (path.empty()) {
      made = file.vector_count;
      found.push_back({"code that the program made itself", ratio});
      continue;
    }
    const auto bytes = read_bytes(path, kMostFileBytes);
    const auto holds = bytes ? wider_instructions_of_file(*bytes) : std::nullopt;
    if (!holds) {
      result.missing = "a file that vector code ran in can't be read: " + printable(path);
      return result;
    }
    std::vector<std::string> sets;
    if (holds->avx512_count >= kLeastOfFile) sets.emplace_back("AVX-512");
    if (holds->vnni_count >= kLeastOfFile) sets.emplace_back("VNNI");
    if (holds->amx_count >= kLeastOfFile) sets.emplace_back("AMX");
    if (sets.empty()) continue;
    wider += file.vector_count;
    if (holds->vnni_count >= kLeastOfFile) vnni += file.vector_count;
    if (holds->amx_count >= kLeastOfFile) amx += file.vector_count;
    found.push_back(
        {fmt::format("{} ({})", printable(std::filesystem::path(path).filename().string()), join(sets, ", ")), ratio});
  }
  result.counts = {{"vector_block_instructions", vector},
                   {"wider_code_instructions", wider},
                   {"wider_code_vnni_instructions", vnni},
                   {"wider_code_amx_instructions", amx},
                   {"made_code_vector_instructions", made}};
  if ((wider + made) < kLeastTold * instructions_count) return result;
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.ratio > b.ratio; });
  std::vector<std::string> parts;
  for (const Found& one : found) {
    parts.push_back(fmt::format("{:.0f}% in {}", 100 * one.ratio, one.what));
    if (parts.size() == kFilesTold) break;
  }
  result.warning = {"wider-vectors",
                    fmt::format("{:.0f}% of the instructions are vector code for which a CPU with AVX-512 may run "
                                "other code: {}. The emulated CPU has no AVX-512, so that other code was not counted",
                                100 * (wider + made) / instructions_count, join(parts, ", ")),
                    "measure the time on a CPU with AVX-512, and give it with --measured"};
  return result;
}

}  // namespace perfcast
