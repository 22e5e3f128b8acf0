#pragma once
// Output of `perf stat -j` (a JSON object per line) and `perf stat -x` with any separator of , ; | : @ and tab, in the
// locale that it was run in, and what perf stat prints for people: one file is one profile, or one for each of its
// cgroups ("FILE.CGROUP").
//
// Lines of intervals, CPUs, sockets and threads add up; where the sum of the intervals stands beside them (--summary),
// it alone counts. Counts of the two kinds of cores of a hybrid CPU, which perf scales up to all of the time each, are
// brought back to their share of it (warning "hybrid-cores"). Events with no modifier or with :u are the
// catalogue's; other modifiers stay apart ("perf_cycles_k_count"). "<not counted>" and "<not supported>" are missing,
// with that reason. perf has scaled counts of events that ran part of the time already: they bring a warning
// "multiplexed" with the share. Metrics that perf derives are left out. Times come in seconds, energy in joules. What
// was decided about separators and decimal marks is a warning "number-form".

#include "program/corpus/importers/tool_profile.h"

namespace perfcast::program {

// Error "bad-perf-stat" with file:line for what is neither; "no-rows" where no event has a value.
Result<std::vector<StoredProfile>> read_perf_stat(std::string_view text, const std::string& path);
Result<Import> import_perf_stat(const std::string& path, const ProgramCatalogue& catalogue);

}  // namespace perfcast::program
