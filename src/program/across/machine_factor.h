#pragma once
// By what factor two machines alone should differ for a program: the forecast of a profile, or what programs of its
// kind do; with the spread of programs and of servers about it.
//
// Servers of one CPU model differ: their variance is taken from the bundle's servers of the model, shrunk towards all
// models'; of an instance type that is known, from where its series lies among them. Of a kind, the factor is the mean
// over families that were timed on both, and the variance that of their log ratios, shrunk towards the median over all
// pairs of platforms: as if kPriorFamilies more had shown that.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "machine/facts/host_facts.h"
#include "profile/profile.h"
#include "program/model/forecast/forecaster.h"

namespace perfcast::program {

struct NamedMachine {
  size_t platform = 0;           // index in the bundle
  std::optional<size_t> server;  // likewise, where an instance type was named
  std::string cpu;               // the platform's name
  std::string how;               // where the CPU's name alone didn't say it; for people
  double server_level = 0;       // log of a server of its series over the CPU model's; 0 where the series is not known
  double server_variance = 0;    // of a server's log times about that
};

// `text`: a CPU model's name, an instance type ("aws:m7g.large"), or what lscpu prints, or /proc/cpuinfo has. `where`:
// the option. Errors: "unknown-platform", "ambiguous-platform"; "unknown-host" where facts are like no known CPU's.
Result<NamedMachine> machine_called(const Bundle& bundle, const std::string& text, const std::string& where);
// Of facts that a file has. Errors: "unknown-host".
Result<NamedMachine> machine_of(const Bundle& bundle, const HostFacts& host, const std::string& where);

struct MachineFactor {
  std::array<NamedMachine, 2> machines;  // A, B
  double log_ratio = 0;                  // the time of one program on B over that on A
  double program_variance = 0;           // of a program's log ratio about it, apart from servers
  std::string basis;                     // "profile", "servers" (one CPU model), "all", or the group of programs
  int64_t families = 0;                  // of programs of that group that say it; 0: another basis
  std::vector<std::string> notes;
  bool is_same_cpu() const { return machines[0].platform == machines[1].platform; }
};

inline constexpr double kPriorFamilies = 4;
// Of a server's log times, where the bundle has no servers' levels: what 2,000 servers of 96 CPU models show.
inline constexpr double kServerDeviationLog = 0.06;

// `group`: of the bundle's programs ("application", ...); where too few of it were timed on both, those of all groups.
// Errors: "unknown-group" (those there are listed), "no-times" where they are too few, too.
Result<MachineFactor> factor_of_group(const Bundle& bundle, const std::array<NamedMachine, 2>& machines,
                                      const std::string& group);
// Errors: those of Forecaster::forecast().
Result<MachineFactor> factor_of_profile(const Forecaster& forecaster, const std::array<NamedMachine, 2>& machines,
                                        const Profile& profile);

// What instance types of one series have in common: the name without its size. "m5n.xlarge" -> "m5n",
// "Standard_E64-16ds_v4" -> "Standard_E-ds_v4", "n2d-highcpu-8" -> "nd-highcpu-"; metal ones are a series of their own.
std::string series_of(const std::string& instance_type);

}  // namespace perfcast::program
