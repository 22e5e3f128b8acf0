#pragma once
// The lines of `perf stat -x` and `perf stat -j`, in whatever form they were written: separator, decimal mark, and
// which of the optional fields there are. Fields: perf-stat(1), "CSV FORMAT" and "JSON FORMAT".

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast::program {

// All of the time, and what rounding may add.
inline constexpr double kMostRunningPercent = 100.5;

struct PerfStatRow {
  std::string interval;  // the time of -I; empty: none
  std::string place;     // CPU, core, socket, thread ... that it is of; empty: of all
  std::string cgroup;
  std::string event, unit;
  std::optional<double> value;
  std::string why_missing;                // without a value: "not counted"
  std::optional<double> running_percent;  // of the time that the event was to be counted, 0 to 100
  bool is_summary = false;                // the sum of the intervals
};

struct PerfStatRows {
  std::vector<PerfStatRow> rows;
  std::string form;  // where it isn't plain: "fields separated by semicolons, decimal commas"
};

// The form is judged by all lines. Lines of derived metrics and comments are left out. Errors with file and line:
// "bad-perf-stat" for what is neither, "bad-json", "mixed-numbers".
Result<PerfStatRows> read_perf_stat_rows(std::string_view text, const std::string& path);

}  // namespace perfcast::program
