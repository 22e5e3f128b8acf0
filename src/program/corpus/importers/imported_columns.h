#pragma once
// Columns of a published table as metrics of the catalogue: which column is which metric, and the factor from the
// table's unit to the catalogue's.

#include <string>
#include <vector>

#include "base/csv.h"
#include "profile/metrics/catalogue.h"
#include "program/corpus/importers/exclusion_counter.h"

namespace perfcast::program {

// Larger tables are refused.
inline constexpr size_t kMaximumTableBytes = size_t{512} << 20;

struct ImportedColumn {
  size_t index;
  std::string metric;
  double factor = 1;
};

// True where a metric of this name can't be below 0: counts, bytes, seconds.
bool is_amount(std::string_view metric);

// Cells that are blank, no finite number, or a negative amount are left out and counted; their metrics get a reason in
// `missing`.
void read_imported_columns(const CsvTable& table, size_t row, const std::vector<ImportedColumn>& columns,
                           ExclusionCounter& exclusions, MetricValues& metrics,
                           std::map<std::string, std::string>& missing);

// A finite number above 0, or why not: counted under `subject`.
std::optional<double> positive_number(std::string_view cell, const std::string& subject, ExclusionCounter& exclusions);

// One segment of a program id: lower case letters, digits, '_' and '-'; whatever else becomes '_'. A text that the
// split by program would take for a numeric input ("12", "b4") keeps its meaning by a leading 'n'.
std::string id_segment(std::string_view text);
// An input as a segment of a program id: a whole number as it is, "large" as "=large".
std::string input_segment(std::string_view text);

}  // namespace perfcast::program
