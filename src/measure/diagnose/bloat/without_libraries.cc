#include "measure/diagnose/bloat/without_libraries.h"

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/file.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostProgramBytes = size_t{1} << 30;
constexpr size_t kMostProgramHeaders = 1024;
// Of those that systems may define, and none does: the dynamic linker passes over it.
constexpr int64_t kNobodysTag = 0x6000000F;

class ProgramBytes {
 public:
  explicit ProgramBytes(std::string& bytes) : bytes_(bytes) {}
  template <typename T>
  std::optional<T> at(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  template <typename T>
  void put(uint64_t offset, const T& value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
  }
  // Up to its end; empty where there is none.
  std::string text_at(uint64_t offset) const {
    if (offset >= bytes_.size()) return "";
    const size_t end = bytes_.find('\0', offset);
    return end == std::string::npos ? "" : bytes_.substr(offset, end - offset);
  }

 private:
  std::string& bytes_;
};

}  // namespace

Result<std::string> without_libraries(std::string bytes, const std::vector<std::string>& libraries,
                                      const std::string& source) {
  ProgramBytes program(bytes);
  const auto header = program.at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB)
    return Error{"not-elf", "the file is no program of 64 bits", source, "an ELF file"};
  std::vector<Elf64_Phdr> segments;
  std::optional<Elf64_Phdr> dynamic;
  for (size_t i = 0; i < std::min<size_t>(header->e_phnum, kMostProgramHeaders); ++i) {
    const auto segment = program.at<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) break;
    if (segment->p_type == PT_LOAD) segments.push_back(*segment);
    if (segment->p_type == PT_DYNAMIC) dynamic = segment;
  }
  std::vector<std::pair<uint64_t, Elf64_Dyn>> entries;
  uint64_t names_address = 0;
  for (uint64_t i = 0; dynamic && i < dynamic->p_filesz / sizeof(Elf64_Dyn); ++i) {
    const uint64_t place = dynamic->p_offset + i * sizeof(Elf64_Dyn);
    const auto entry = program.at<Elf64_Dyn>(place);
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_STRTAB) names_address = entry->d_un.d_ptr;
    entries.emplace_back(place, *entry);
  }
  const auto holds_names = std::find_if(segments.begin(), segments.end(), [&](const Elf64_Phdr& of) {
    return names_address >= of.p_vaddr && names_address - of.p_vaddr < of.p_filesz;
  });
  if (holds_names == segments.end())
    return Error{"not-asked-for", "the program asks for no libraries", source, "a program that is linked dynamically"};
  const uint64_t names = names_address - holds_names->p_vaddr + holds_names->p_offset;
  size_t left_out = 0;
  for (auto& [place, entry] : entries) {
    const std::string name = program.text_at(names + entry.d_un.d_val);
    if ((entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) && name.find("ORIGIN") != std::string::npos)
      return Error{"moves-with-its-folder", "the program looks for libraries beside itself", source,
                   "one that finds them from anywhere"};
    if (entry.d_tag != DT_NEEDED || std::find(libraries.begin(), libraries.end(), name) == libraries.end()) continue;
    entry.d_tag = kNobodysTag;
    program.put(place, entry);
    ++left_out;
  }
  if (left_out == 0)
    return Error{"not-asked-for", "the program asks for none of these libraries", source,
                 "names as readelf -d has them"};
  return bytes;
}

Result<std::string> copy_without_libraries(const std::string& program, const std::vector<std::string>& libraries,
                                           const std::string& folder) {
  auto bytes = read_bytes(program, kMostProgramBytes);
  if (!bytes) return bytes.error();
  const auto changed = without_libraries(std::move(*bytes), libraries, program);
  if (!changed) return changed.error();
  std::string copy = folder + "/" + std::filesystem::path(program).filename().string();
  if (const Status status = write_file_atomically(copy, *changed); !status) return status.error();
  if (chmod(copy.c_str(), S_IRWXU) != 0)
    return environment_error("not-executable", "the copy can't be made executable", copy,
                             "a folder for programs: TMPDIR");
  return copy;
}

}  // namespace perfcast::measure
