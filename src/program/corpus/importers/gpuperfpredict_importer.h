#pragma once
// The set "gpuperfpredict" (Amaris and others, NCA 2016): Rodinia kernels on NVIDIA GPUs, nvprof counters and kernel
// times. One row is one workload (kernel, input sizes, grid, block) on one GPU.
//
// Platforms are the GPUs. A program is a workload: "gpuperfpredict.APP.KERNEL.INPUTS.GRID.BLOCK", numbers in their own
// segments; its family is "APP.KERNEL". Each row gives one run (mean kernel time, s) and one profile, whose host is
// that GPU. Metrics carry nvprof's own names: percentages and nvprof's levels of 0 to 10 become shares, GB/s byte/s.
//
// Of Table I of the paper these follow, per thread: "# Instructions" (sum of nvprof's six classes; conversions and
// shuffles are not in the set), the shares of integer, floating-point, memory and control instructions in it, threads
// (grid times block) and warps. Not mapped, since nothing in the set means the same: cache misses to hits (no hit
// rates, and device memory traffic is not that of the first level), branch misses, independent instructions, copies
// between host and GPU, and the operating system's counters.
//
// Known faults, each counted in the exclusions: static shared memory stands in KiB on some GPUs and in bytes on others
// (told by the other GPUs of the same workload, and set right); workloads not measured on all GPUs stay; rows without a
// kernel, a GPU or a positive time, and second rows for one workload and GPU, are left out. Counts that belong to the
// program (warps, 32-bit loads and stores, launches) are compared over the GPUs; workloads where they differ stay and
// are counted.

#include <string>

#include "program/corpus/importers/import.h"
#include "program/corpus/source_note.h"

namespace perfcast::program {

struct GpuperfpredictText {
  std::string csv;
  std::string path = "rodinia_nvprof.csv";  // for messages
  SourceNote note;
};

// Errors: "bad-csv", "missing-column", "no-rows".
Result<Import> import_gpuperfpredict(const GpuperfpredictText& text);
// The file, or the folder with rodinia_nvprof.csv(.gz); a SOURCE.md beside it is read for its licence and commit.
Result<Import> import_gpuperfpredict_path(const std::string& path, const ProgramCatalogue& catalogue);

}  // namespace perfcast::program
