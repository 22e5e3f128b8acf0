#pragma once
// A folder of sources, listed and copied.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"

namespace perfcast::measure {

struct SourceFile {
  std::filesystem::file_time_type time;  // of its last change
  uint64_t bytes = 0;
  bool operator==(const SourceFile&) const = default;
};
// Regular files by their path within the tree, without what version control keeps of other times (.git, .hg, .svn).
using SourceFiles = std::map<std::string, SourceFile>;

// Errors: "tree-too-large" (usage), "file-error".
Result<SourceFiles> list_source_files(const std::filesystem::path& tree, uint64_t most_bytes);

// What a build makes of sources: programs, libraries, objects, precompiled headers; by its content or the end of its
// name. False where it can't be read.
bool is_build_product(const std::filesystem::path& file);
bool is_source_name(const std::string& name);  // of C, C++, Fortran, Rust, Go, assembly

// Times of products in a copy: older than any source, so that a build makes them anew.
std::filesystem::file_time_type product_time();

// To `target`, which must not be there. Sources keep their times, products get product_time(). Files that tell builds
// where things are (makefiles, caches of CMake, ...) name the copy where they named the tree; so do links. Error
// "tree-leads-out" (usage) where a link leads to what lies elsewhere and is no part of the system.
Status copy_source_tree(const std::filesystem::path& tree, const std::filesystem::path& target);

bool is_path_within(const std::filesystem::path& folder, const std::filesystem::path& path);

}  // namespace perfcast::measure
