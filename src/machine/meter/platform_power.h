#pragma once
// What platforms draw, as far as their vendors say: the thermal design power (TDP) of CPU packages, and what that is
// worth as a forecast of a program's joules.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

struct CpuPower {
  std::string name;  // as the vendor writes it
  double tdp_w = 0;  // of one package
  double cores = 0;  // of one package
  std::string source;
};

// data/platform-power/cpus.json (schema perfcast.platform-power/1).
class PlatformPowerTable {
 public:
  // Errors: "bad-json", "bad-json-field" (a power or number of cores that isn't above 0, a source that isn't named),
  // "duplicate-name".
  static Result<PlatformPowerTable> parse(std::string_view json, const std::string& source);
  static Result<PlatformPowerTable> read(const std::string& path);

  // By the platform's name as a data set or kernel writes it; null where the table has none. Names that clouds made up
  // ("Intel Xeon Processor (Skylake)") are none.
  const CpuPower* find(const std::string& platform_name) const;
  size_t size() const { return cpus_.size(); }

 private:
  std::vector<CpuPower> cpus_;
  std::map<std::string, size_t> by_key_;
};

// A core's share of its package's TDP, times the seconds that the program keeps a core busy: the joules that a run
// costs on a package whose other cores are busy too.
inline double tdp_joules(const CpuPower& cpu, double core_s) { return cpu.tdp_w / cpu.cores * core_s; }

// How far that is off, in natural logarithms of measured over TDP-based joules. From five servers of 2010 to 2012 under
// eight services of CloudSuite and two microbenchmarks (RenewIT): a server's power above idle, over its CPUs' use times
// their TDP, for the 41 pairs of server and workload that use the CPUs at 5% and more. platform_power_test.cc computes
// these numbers from the measurements. They hold joules of the whole server above idle; a package's own counter lies in
// the same range. What a program does is common to all platforms, what a platform does is its own.
inline constexpr double kTdpLogBias = 0.21;
inline constexpr double kTdpProgramLogDeviation = 0.27;
inline constexpr double kTdpPlatformLogDeviation = 0.32;

}  // namespace perfcast
