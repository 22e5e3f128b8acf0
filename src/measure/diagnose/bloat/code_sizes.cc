#include "measure/diagnose/bloat/code_sizes.h"

#include <filesystem>

#include "base/process/tool.h"
#include "base/text.h"
#include "measure/diagnose/bloat/elf_code.h"

namespace perfcast::measure {
namespace {

constexpr double kListLimit_s = 20;
constexpr size_t kMostLibraries = 4096;

Result<FileSizes> sizes_of_file(const std::string& path, std::string* loader = nullptr) {
  const auto code = read_elf_code(path, false);
  if (!code) return code.error();
  if (loader != nullptr) *loader = code->loader;
  return FileSizes{path, code->file_bytes, code->mapped_bytes, code->purposes.code_bytes};
}

}  // namespace

FileSizes CodeSizes::total() const {
  FileSizes sum = program;
  sum.path.clear();
  for (const FileSizes& library : libraries) {
    sum.file_bytes += library.file_bytes;
    sum.mapped_bytes += library.mapped_bytes;
    sum.code_bytes += library.code_bytes;
  }
  return sum;
}

Result<std::vector<std::string>> listed_libraries(std::string_view list) {
  std::vector<std::string> paths;
  for (const std::string& line : split(list, '\n')) {
    std::string_view text = trim(line);
    const std::string name(text.substr(0, text.find(' ')));
    if (const size_t arrow = text.find(" => "); arrow != std::string_view::npos) text.remove_prefix(arrow + 4);
    if (text.starts_with("not found"))
      return Error{"library-not-found", "the library " + printable(name) + " is not found", "",
                   "a program whose libraries are installed, or LD_LIBRARY_PATH"};
    // The kernel's own has no file.
    if (!text.starts_with('/')) continue;
    const std::string path(text.substr(0, text.rfind(" (")));
    if (paths.size() < kMostLibraries) paths.push_back(path);
  }
  return paths;
}

Result<CodeSizes> sizes_of(const std::string& path) {
  CodeSizes sizes;
  std::string loader;
  auto program = sizes_of_file(path, &loader);
  if (!program) return program.error();
  sizes.program = std::move(*program);
  if (loader.empty()) return sizes;
  // With a slash it is no name to be looked for.
  const std::string full = std::filesystem::absolute(path).string();
  const auto list = answer_of({loader, "--list", full}, kListLimit_s);
  if (!list) return list.error();
  const auto libraries = listed_libraries(*list);
  if (!libraries) {
    Error error = libraries.error();
    error.where = path;
    return error;
  }
  for (const std::string& library : *libraries) {
    auto one = sizes_of_file(library);
    if (!one) return one.error();
    sizes.libraries.push_back(std::move(*one));
  }
  return sizes;
}

std::vector<BloatRebuild> bloat_rebuilds() {
  return {{"as usual", "-O2"},
          {"what nothing refers to left out", "-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections"},
          {"for size", "-Os"},
          {"for size, what nothing refers to left out", "-Os -ffunction-sections -fdata-sections -Wl,--gc-sections"},
          {"libraries that nothing is asked of left out", "-O2 -Wl,--as-needed"},
          {"linked statically", "-O2 -static"},
          {"optimised as a whole", "-O2 -flto"}};
}

}  // namespace perfcast::measure
