#pragma once
// The JSON that PAPI's high-level interface writes, one file for each process ("rank_000000.json"): one file is one
// profile.
//
// Counts add up over threads and over the regions that no other region encloses; elapsed time and cycles are those of
// the longest thread. Both layouts are read: threads and regions as arrays (PAPI 6) or as objects by their id (7).
// Values are numbers or texts of numbers; of an object of statistics the total counts.

#include "program/corpus/importers/tool_profile.h"

namespace perfcast::program {

// Errors: "bad-json"; "bad-papi" where there are no threads with regions; "no-rows" where no event has a value.
Result<std::vector<StoredProfile>> read_papi(std::string_view text, const std::string& path);
Result<Import> import_papi(const std::string& path, const ProgramCatalogue& catalogue);

}  // namespace perfcast::program
