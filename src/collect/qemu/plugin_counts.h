#pragma once
// The counts that the QEMU plugin writes, one file per process; qemu_plugin/README.md describes them.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

struct PluginCounts {
  std::string arch;  // "x86_64", "aarch64"
  std::string mode;  // "full", "mix"
  int64_t process = 0;
  size_t processes = 1;         // that the counts are the sum of
  bool became_another = false;  // the process executed another program, which was not counted
  std::string exec_path;        // that program, where known
  std::map<std::string, uint64_t, std::less<>> counts;
};

// Strict: an unknown version, a line that is no "key value", a key twice, or a missing end are errors.
Result<PluginCounts> parse_plugin_counts(std::string_view text, const std::string& source);

// All processes of one run added up. Different architectures or modes are an error.
Result<PluginCounts> merge_plugin_counts(const std::vector<PluginCounts>& parts, const std::string& source);

}  // namespace perfcast
