#pragma once
// A space that somebody measured: CSV with one column per knob, `time_s` and `valid`.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/tune/search/candidates.h"
#include "measure/tune/space/space.h"

namespace perfcast::measure {

struct RecordedSpace {
  std::vector<Knob> knobs;  // columns that are constant are none
  struct Point {
    Setting setting;
    std::optional<double> time_s;  // nullopt: not valid
  };
  std::vector<Point> points;  // settings are all different
  size_t repeated_rows = 0;   // that were joined: the median of their times
  std::vector<std::string> constant_columns;
  std::string form;  // how it was read where that isn't plain (CsvTable::form())

  size_t invalid_points() const;
  double best_s() const;
};

// A blank cell of a knob: it is not in play. `valid`: 1 or 0, true or false, yes or no; where the column is missing, or
// a cell empty, a row is valid that has a time. Errors: "bad-recording" with all mistakes at once (a valid row without
// a time above 0, a cell of `valid` that is neither), no valid row, no knob, fewer than two points; those of CsvTable.
Result<RecordedSpace> parse_recorded_space(std::string_view text, const std::string& source);

}  // namespace perfcast::measure
