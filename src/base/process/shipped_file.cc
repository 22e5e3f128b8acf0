#include "base/process/shipped_file.h"

#include <array>
#include <filesystem>

namespace perfcast {

std::string find_shipped_file(const std::string& name, const std::string& build_folder) {
  std::error_code problem;
  const std::filesystem::path binary = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) return "";
  // Tests are built one folder deeper than the program.
  const std::filesystem::path folder = binary.parent_path(), above = folder.parent_path();
  const std::array<std::filesystem::path, 4> candidates = {folder / name, above / "lib" / "perfcast" / name,
                                                           folder / build_folder / name, above / build_folder / name};
  for (const std::filesystem::path& candidate : candidates) {
    if (std::filesystem::is_regular_file(candidate, problem)) return candidate.string();
  }
  return "";
}

}  // namespace perfcast
