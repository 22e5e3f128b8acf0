#pragma once
// Output of NVIDIA's profilers: `ncu --csv` (Nsight Compute; the page of details, one metric per line, or the raw page,
// one launch per line) and `nvprof --csv` (tables of metrics and events, and the summary of GPU activities).
//
// Each kernel of a file is one profile, "FILE.KERNEL", with means over its launches. nvprof names the GPU, which
// becomes the profile's host; ncu does not: "# host: MODEL" in the file does. What a GPU can't count ("n/a",
// "<OVERFLOW>") is missing. Percentages and levels ("Low (2)", of 10) become shares. Metrics of ncu that NVIDIA's
// documentation gives as nvprof's successors carry nvprof's names, so that profiles of both compare; sections' display
// names likewise where they are known.

#include "program/corpus/importers/tool_profile.h"

namespace perfcast::program {

// Errors: "bad-csv" with file:line, "no-rows" where there is no table, or no metric has a value.
Result<std::vector<StoredProfile>> read_ncu(std::string_view text, const std::string& path);
Result<std::vector<StoredProfile>> read_nvprof(std::string_view text, const std::string& path);
Result<Import> import_ncu(const std::string& path, const ProgramCatalogue& catalogue);
Result<Import> import_nvprof(const std::string& path, const ProgramCatalogue& catalogue);

}  // namespace perfcast::program
