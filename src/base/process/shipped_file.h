#pragma once
// Files that are shipped with this program and loaded into others: plugins, libraries for LD_PRELOAD.

#include <string>

namespace perfcast {

// Beside this program's binary; else in ../lib/perfcast, where it is installed; else in `build_folder` of the tree that
// it was built in ("src/measure/diagnose"). Empty where it is in none of them.
std::string find_shipped_file(const std::string& name, const std::string& build_folder);

}  // namespace perfcast
