#pragma once
// What `perf stat` prints for people (on the terminal, or to the file of -o), as rows.

#include "program/corpus/importers/perf_stat_rows.h"

namespace perfcast::program {

bool is_perf_stat_report(std::string_view text);
// One report, of any locale; the elapsed time is a row "duration_time" in ns. Errors with file and line:
// "bad-perf-stat" (also for a second report, for -A and --per-..., and for a count that is no whole number and has no
// unit), "mixed-numbers".
Result<PerfStatRows> read_perf_stat_report(std::string_view text, const std::string& path);

}  // namespace perfcast::program
