#pragma once
// What Node.js' own sampling profiler (node --cpu-prof) says of a script: CPU time by line.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/diagnose/observe/script_lines.h"

namespace perfcast::measure {

// Of a .cpuprofile file (the format of the Chrome DevTools Protocol, Profiler.Profile; times in microseconds). Time in
// Node's own code and in node_modules/ is the nearest calling function's of the user, at its first line. Largest first.
// Errors: "bad-json", "bad-profile".
Result<std::vector<ScriptLine>> read_node_profile(std::string_view text, const std::string& source);

// The command with node's profiler writing into `folder`; empty: it does not start node itself.
std::vector<std::string> with_node_profiler(const std::vector<std::string>& command, const std::string& folder);

// The profile of the folder's largest file. Error "no-profile" where there is none.
Result<std::vector<ScriptLine>> read_node_profiles(const std::string& folder);

}  // namespace perfcast::measure
