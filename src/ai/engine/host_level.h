#pragma once
// How fast one core of a host is, by the name of its CPU: what tokenisers, schedulers and launches scale with.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

// Of hosts that nobody named: a middling server of the years 2020 to 2024.
inline constexpr double kUnknownHostLevel = 1.4;

// The host of an engine.
struct EngineHost {
  std::string cpu;                     // as the table has it; empty: not known
  double level = kUnknownHostLevel;    // speed of one core over a Cascade Lake at 2.2 GHz
  double pcie_bytes_per_s = kUnknown;  // to each device, one direction; not known: as fast as the device takes it
  bool known = false;                  // else intervals are wider
  bool of_kin = false;                 // of CPUs of the same core design: this one wasn't measured
};

// One CPU model.
struct HostLevel {
  std::string name;         // verbatim, of most servers
  std::string design;       // core design; "unknown"
  double level = kUnknown;  // median over its servers: those with accelerators, where there are any
  int64_t servers = 0;      // that it is the median of
  bool carries_accelerators = false;
  std::vector<std::string> instances;  // types of machines with accelerators that have it: "aws g5.xlarge"
};

class HostLevels {
 public:
  // Of tables in the form of Spare Cores (servers.csv, benchmarks_wide.csv): geometric mean over the programs of one
  // thread ("stressng.*.1", "compress.*.1.*") of the ratio to the reference, Google's a2-highgpu-1g. Servers with fewer
  // than 20 programs are left out. "bad-csv", "missing-column", "no-reference".
  static Result<HostLevels> from_tables(std::string_view servers_csv, std::string_view rates_csv,
                                        const std::string& servers_path, const std::string& rates_path);
  // servers.csv and benchmarks_wide.csv[.gz] in the folder.
  static Result<HostLevels> read(const std::string& folder);

  // By the CPU's name, with or without vendor, trade marks, clock and core count, or by the name of a machine with
  // accelerators ("aws g5.xlarge", "g5.xlarge"); where several designs share it, the one that
  // carries accelerators, then the one of most servers. Else the median of its core design, which is marked. Else
  // "unknown-cpu" with near names.
  Result<EngineHost> find(const std::string& cpu) const;
  const std::vector<HostLevel>& levels() const { return levels_; }

  Json to_json() const;
  // "bad-json-field".
  static Result<HostLevels> from_json(const Json& json, const std::string& path);

 private:
  std::vector<HostLevel> levels_;  // by name
};

// PCI Express to one device, bytes/s in one direction, of hosts of a core design: sixteen lanes of the generation that
// its servers have. NaN: not known.
double pcie_bytes_per_s_of_design(std::string_view design);

}  // namespace perfcast::ai
