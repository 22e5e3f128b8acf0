#pragma once
// Facts of the machine we run on, read from /proc, /sys and /etc.

#include <optional>
#include <string>

#include "profile/profile.h"

namespace perfcast {

// `root` stands before every path read ("" for this machine): tests give a folder of their own. What can't be read
// stays empty or absent.
HostFacts read_host_facts(const std::string& root = "");

// Levels of the page table that a program's addresses walk through; absent where nothing tells.
std::optional<int64_t> page_table_levels(const HostFacts& host, const std::string& root = "");

// Value of /proc/sys/kernel/perf_event_paranoid.
std::optional<int64_t> perf_event_paranoid(const std::string& root = "");

}  // namespace perfcast
