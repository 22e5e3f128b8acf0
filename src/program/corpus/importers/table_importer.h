#pragma once
// Anybody's own CSV, wide (one row per program and input, a time column per platform) or long (one row per program,
// input and platform), read by a mapping file (table_mapping.h; docs/import.md shows it).
//
// A program is "NAME.PROGRAM.INPUT": NAME the mapping's, one segment for each column of program and input. Counters
// become one profile for each row of a long table, taken on that row's platform, or for each row of a wide one, taken
// on counters_platform or, without it, on none.
//
// Errors: those of the mapping; "bad-csv"; "missing-column" (a column that the mapping names is not there, or a pattern
// matches none; those that are there are listed); "bad-number" with file:line (a time, energy or counter that is no
// number: a unit in the cell, or the wrong column); "duplicate-key" with both lines (a second row for one program,
// input and platform, unless repeats is "median": then the times' median counts and the first row's counters);
// "unknown-platform" (counters_platform or a key of platforms that the table lacks); "no-rows".
// Counted in the exclusions: blank times (not measured), times that are zero, negative or not finite, energies
// likewise, blank counters and negative amounts (absent from the profile, with the reason), rows without a program or
// platform.

#include "program/corpus/importers/import.h"
#include "program/corpus/importers/table_mapping.h"

namespace perfcast::program {

Result<Import> import_table(const TableMapping& mapping, std::string_view csv, const std::string& csv_path);
// `path` is the mapping file.
Result<Import> import_table_path(const std::string& path, const ProgramCatalogue& catalogue);

}  // namespace perfcast::program
