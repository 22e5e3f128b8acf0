#pragma once
// What the columns of anybody's own CSV mean: a small JSON file (schema perfcast.table/1) that docs/import.md
// describes.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

// One column for each platform: named one by one, or by a pattern whose '*' is the platform's name.
struct PlatformColumns {
  std::vector<std::pair<std::string, std::string>> columns;  // platform name, column
  std::string pattern;
  double factor = 1;  // to s or J
  bool empty() const { return columns.empty() && pattern.empty(); }
};

struct MappedCounters {
  std::string column;  // a name, or a pattern with '*'
  std::string metric;  // empty: by the column's name
  std::string suffix;  // of the metric: "_count", "_s", ...; empty where the metric tells
  double factor = 1;   // from the table's unit to the metric's
};

struct TableMapping {
  std::string name, csv;  // csv: relative to the mapping file
  std::string url, licence, note;
  std::optional<char> separator;            // absent: found by the first line
  std::vector<std::string> program, input;  // columns
  std::string family;                       // column; empty: the first of `program`
  std::string group = "user";
  // Long tables: one row for each program, input and platform.
  std::string platform, time, energy;  // columns
  double time_factor = 1, energy_factor = 1;
  // Wide tables: one row for each program and input.
  PlatformColumns times, energies;
  std::vector<MappedCounters> counters;
  std::string counters_platform;  // the platform that the counters were taken on; empty: that of the row, if any
  bool fold_repeats = false;      // second rows for one key: median of the times; else they are an error
  std::map<std::string, Platform> platforms;  // by name: kind, vendor, arch, facts
  bool wide() const { return platform.empty(); }
};

// Errors: "bad-json", "bad-mapping" (all mistakes at once, unknown fields and units too), "future-version".
Result<TableMapping> parse_table_mapping(std::string_view json_text, const std::string& source);

// What '*' stands for where `pattern` (with one '*') matches `text`; nullopt where it doesn't.
std::optional<std::string> match_pattern(std::string_view pattern, std::string_view text);

}  // namespace perfcast::program
