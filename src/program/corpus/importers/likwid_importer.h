#pragma once
// Output of `likwid-perfctr -O` (CSV): one file is one profile, or one for each region of the marker API
// ("FILE.REGION").
//
// Counts add up over the hardware threads; the run time is the longest. The host is the file's "CPU name". Groups are
// measured in turns: an event that stands in several counts once, by its first, and the profile gets the warning
// "multiplexed". "-" (no number) is missing. likwid's own derived metrics are left out, but for the run time. PWR_
// events are joules.

#include "program/corpus/importers/tool_profile.h"

namespace perfcast::program {

// Error "no-rows" where the text has no table of raw events with a value.
Result<std::vector<StoredProfile>> read_likwid(std::string_view text, const std::string& path);
Result<Import> import_likwid(const std::string& path, const ProgramCatalogue& catalogue);

}  // namespace perfcast::program
