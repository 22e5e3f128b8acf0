#pragma once
// Single values as the kernel shows them in /sys: short files of one line.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast {

// The first line without blanks around it. "file-not-found", "no-permission", "file-error", "file-too-large".
Result<std::string> read_sysfs(const std::string& path);
// Of a file that holds a whole number, which may be negative; also "bad-number".
Result<double> read_sysfs_number(const std::string& path);
// Absent for whatever reason.
std::optional<double> sysfs_number(const std::string& path);
std::string sysfs_text(const std::string& path);

// Names in a folder, sorted so that those with numbers come in the order of these; empty where it can't be read. At
// most 4096.
std::vector<std::string> sysfs_names(const std::string& folder);

}  // namespace perfcast
