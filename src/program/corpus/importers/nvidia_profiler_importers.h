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

// The kernels of one file as a profile of the program, each with its launches: what a forecast reads. Overloads of a
// function have ".2" and so on behind their names. "several-gpus": the file has kernels of two.
Result<Profile> kernels_in_one_profile(const std::vector<StoredProfile>& kernels, const std::string& program,
                                       const std::string& path);
// Of a file of "ncu" or "nvprof". Errors of the readers and of read_file(), too.
Result<Profile> read_gpu_profile(const std::string& format, const std::string& path);

Result<Import> import_ncu(const std::string& path, const ProgramCatalogue& catalogue);
Result<Import> import_nvprof(const std::string& path, const ProgramCatalogue& catalogue);

}  // namespace perfcast::program
