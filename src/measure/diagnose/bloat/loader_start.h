#pragma once
// What the dynamic linker says of itself: LD_DEBUG=statistics of glibc.

#include <string>
#include <string_view>

namespace perfcast::measure {

// Of the starts of a run's programs, added up.
struct LoaderStart {
  double starts_count = 0;
  double start_s = 0;         // until the program's own first instruction; constructors of libraries are not in it
  double relocation_s = 0;    // of these, putting addresses into memory
  double load_s = 0;          // of these, finding and mapping libraries
  double by_name_count = 0;   // relocations that look a symbol up, at the start
  double relative_count = 0;  // relocations that add where the file was put
  double at_end_count = 0;    // by name, until the end: with those of first calls
  void add(const LoaderStart& other);
};

// Its report of one process, of one start or of several where programs followed each other; other lines may stand in
// between. What can't be read is left out.
LoaderStart parse_loader_report(std::string_view text, double cycles_per_s);

// How fast the counter runs that the report counts in, measured: 20 ms.
double loader_cycles_per_s();

// All reports of a run: files that begin with `prefix`, as LD_DEBUG_OUTPUT has it.
LoaderStart read_loader_reports(const std::string& folder, const std::string& prefix);

}  // namespace perfcast::measure
