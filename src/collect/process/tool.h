#pragma once
// Outside tools: where they are and which version.

#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast {

// First line that `command` prints on stdout; empty where it can't be run, fails or takes over 5 s.
std::string first_line_of(const std::vector<std::string>& command);

// Debian's package of a tool, for advice.
std::string install_advice(const std::string& package);

}  // namespace perfcast
