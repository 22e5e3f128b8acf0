#pragma once
// Tables of OpenBenchmarking.org's single-threaded tests: for each test and CPU the mean over its users' results, their
// standard deviation and number. Platforms are CPU models; one that clouds rent out too has the id that the importer of
// Spare Cores gives it.

#include <string>

#include "program/corpus/importers/import.h"
#include "program/corpus/source_note.h"

namespace perfcast::program {

struct OpenbenchmarkingText {
  std::string tests_csv, results_csv, cpus_csv;
  std::string folder = "openbenchmarking";  // for messages
  SourceNote note;
};

// Errors: "bad-csv"; "missing-column"; "no-rows" where nothing is left. Rows and tests that can't be read are left out
// and counted, each with its reason.
Result<Import> import_openbenchmarking(const OpenbenchmarkingText& text, const ProgramCatalogue& catalogue);
// Likewise "file-not-found", "file-too-large".
Result<Import> import_openbenchmarking_folder(const std::string& path, const ProgramCatalogue& catalogue);

}  // namespace perfcast::program
