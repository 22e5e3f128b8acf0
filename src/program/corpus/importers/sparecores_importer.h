#pragma once
// Spare Cores inspector data: facts, benchmark rates and Geekbench scores of cloud servers, one row each. Platforms are
// CPU models.

#include <string>

#include "program/corpus/importers/import.h"
#include "program/corpus/source_note.h"

namespace perfcast::program {

struct SparecoresText {
  std::string servers_csv, benchmarks_csv;
  std::string scores_csv;  // Geekbench, column names without "geekbench6."; empty: none
  std::string servers_path = "servers.csv", benchmarks_path = "benchmarks_wide.csv", scores_path = "scores.csv";
  SourceNote note, scores_note;
};

// Errors: "bad-csv", "missing-column". Cells that are blank, zero, negative or no number are left out and counted;
// so are servers that are named twice, share their cores, or run far below their CPU model. Rates and scores, which
// were taken on different days, are screened apart. A workload's times belong to every program of the suite with its
// label ("geekbench6.Navigation"), or else to "geekbench6.navigation".
Result<Import> import_sparecores(const SparecoresText& text, const ProgramCatalogue& catalogue);
// scores.csv(.gz) may lie in the folder, or in the folder geekbench6 beside it.
Result<Import> import_sparecores_folder(const std::string& path, const ProgramCatalogue& catalogue);

// True where the name tells no model number, so that different hardware may stand behind it: "Intel(R) Xeon(R)
// Platinum", "GENUINE INTEL(R) 0000", "Intel(R) Xeon(R) CPU @ 2.20GHz", "".
bool hides_cpu_model(std::string_view cpu_model);

}  // namespace perfcast::program
