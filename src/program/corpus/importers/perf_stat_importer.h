#pragma once
// Output of `perf stat -j` (a JSON object per line) and `perf stat -x,` (any separator of , ; | and tab): one file is
// one profile.
//
// Lines of intervals, CPUs, sockets and the PMUs of hybrid CPUs add up. Events with no modifier or with :u are the
// catalogue's; other modifiers stay apart ("perf_cycles_k_count"). "<not counted>" and "<not supported>" are missing,
// with that reason. perf has scaled counts of events that ran part of the time already: they bring a warning
// "multiplexed" with the share. Metrics that perf derives are left out. Times come in seconds, energy in joules.

#include "program/corpus/importers/tool_profile.h"

namespace perfcast::program {

// Error "bad-perf-stat" with file:line for what is neither; "no-rows" where no event has a value.
Result<std::vector<StoredProfile>> read_perf_stat(std::string_view text, const std::string& path);
Result<Import> import_perf_stat(const std::string& path, const ProgramCatalogue& catalogue);

}  // namespace perfcast::program
