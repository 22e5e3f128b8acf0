#pragma once
// Spare Cores inspector data: facts and benchmark rates of cloud servers, one row each. Platforms are CPU models.

#include <string>

#include "program/corpus/importers/import.h"

namespace perfcast::program {

struct SparecoresText {
  std::string servers_csv, benchmarks_csv;
  std::string servers_path = "servers.csv", benchmarks_path = "benchmarks_wide.csv";  // for messages
  std::string commit;                                                                 // of the data set, where known
  std::string retrieved_utc;                                                          // likewise
};

// Errors: "bad-csv", "missing-column". Cells that are blank, zero, negative or no number are left out and counted;
// so are servers that are named twice, share their cores, or run far below their CPU model.
Result<Import> import_sparecores(const SparecoresText& text, const ProgramCatalogue& catalogue);
Result<Import> import_sparecores_folder(const std::string& path, const ProgramCatalogue& catalogue);

// True where the name tells no model number, so that different hardware may stand behind it: "Intel(R) Xeon(R)
// Platinum", "GENUINE INTEL(R) 0000", "Intel(R) Xeon(R) CPU @ 2.20GHz", "".
bool hides_cpu_model(std::string_view cpu_model);

}  // namespace perfcast::program
