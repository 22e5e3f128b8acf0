#pragma once
// From the CPU table of OpenBenchmarking.org to platforms: what lscpu said on somebody's host, its faults mended or
// left out.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.h"
#include "program/corpus/corpus.h"
#include "program/corpus/importers/exclusion_counter.h"

namespace perfcast::program {

// "2 x AMD EPYC 7742 64-Core": the model without the number of sockets, and that number.
struct HostName {
  std::string cpu;
  int64_t sockets = 1;
};
HostName parse_host_name(std::string_view text);

class OpenbenchmarkingCpus {
 public:
  // Error "missing-column" where `cpu` lacks; any other column may be absent or unreadable.
  static Result<OpenbenchmarkingCpus> read(const CsvTable& table, ExclusionCounter& exclusions);

  // Whether the table has a row of this host name, verbatim.
  bool knows(const std::string& host_name) const { return known_.contains(host_name); }
  // The platform of a CPU's name, with the id that CPUID's name of it has everywhere. Medians of the facts over the
  // rows of that CPU; without facts where there is none.
  Platform platform_of(const std::string& cpu, const std::string& source) const;

 private:
  struct Host {
    ProcessorIdentity identity;
    std::map<std::string, double> facts;
    std::vector<std::string> flags;
  };
  std::map<std::string, std::vector<Host>> hosts_;  // by platform id
  std::set<std::string, std::less<>> known_;        // host names of the table
};

// Caches of one row in KiB, as the table has them.
struct ListedCaches {
  std::optional<double> l1d_kib, l2_kib, l3_kib;
  double cores = 0, sockets = 0;  // 0: unknown
  bool is_amd = false;
  double largest_l1d_kib = 192;  // that one core of such a processor has
};
// Bytes of one instance each. Newer lscpu prints sums over all instances ("24 MiB", in the table 24000): they are
// divided by the cores where the result is a size that first and second caches have, a last one by the sockets of an
// Intel, and absent else. A second cache of 4 MiB without a third is what an emulator makes up.
CacheSizes caches_of_one(const ListedCaches& listed);

}  // namespace perfcast::program
