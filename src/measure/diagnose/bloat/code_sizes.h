#pragma once
// How large a built program is, with the libraries that it would load, without running it; and the ways to build it
// otherwise that may make it smaller.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast::measure {

struct FileSizes {
  std::string path;
  uint64_t file_bytes = 0;
  uint64_t mapped_bytes = 0;  // executable, in whole pages
  uint64_t code_bytes = 0;    // instructions
};

struct CodeSizes {
  FileSizes program;
  std::vector<FileSizes> libraries;  // that it asks for, and those ask for, with the dynamic linker; as it names them
  FileSizes total() const;           // of all; without a path
};

// Asks the program's own dynamic linker which libraries it would load (--list), which runs nothing of the program.
// Errors: read_elf_code()'s; "library-not-found" where one is missing; "tool-failed".
Result<CodeSizes> sizes_of(const std::string& path);

// Paths in what a dynamic linker lists: "\tlibm.so.6 => /lib/libm.so.6 (0x7f...)". Error "library-not-found".
Result<std::vector<std::string>> listed_libraries(std::string_view list);

struct BloatRebuild {
  std::string name;   // what is tried
  std::string flags;  // of the compiler, which passes -Wl to the linker
};

// The first is what the others are compared with. Flags stand for all of CFLAGS or CXXFLAGS.
std::vector<BloatRebuild> bloat_rebuilds();

}  // namespace perfcast::measure
