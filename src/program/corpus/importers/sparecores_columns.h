#pragma once
// What each column of the Spare Cores benchmark table means.

#include <cstdint>
#include <string>
#include <string_view>

namespace perfcast::program {

struct SparecoresColumn {
  enum class Use {
    kRun,         // a rate or score: time_s = 1 / rate, or vcpus / rate where it is of all cores
    kMachineRun,  // the rate of as many copies as vCPUs, or as cores: time_s = copies / rate
    kFact,        // a property of the platform
    kSkip,        // `reason` says why
  };
  Use use = Use::kSkip;
  std::string program;    // kRun, kMachineRun: where no suite names it by `label`
  std::string label;      // that suites name the program by, the same for one core and for all
  std::string group;      // of a program that no suite names; empty: unknown
  bool is_score = false;  // of Geekbench
  int64_t threads = 1;    // kRun; 0: all cores
  bool per_core = false;  // kMachineRun: a copy on each core, never two; else on each vCPU
  std::string fact;       // kFact: name, ending in its unit
  double scale = 1;       // kFact: to that unit
  bool per_vcpu = false;  // grows with the server's size: divided by its vCPUs
  std::string reason;
};

// What names of columns in the table of Geekbench scores lack.
inline constexpr std::string_view kScorePrefix = "geekbench6.";

// Any text is a column name: what no rule knows is kSkip. `name` as in the wide table: "stressng.matrix.1",
// "geekbench6.Navigation.N".
SparecoresColumn classify_sparecores_column(std::string_view name);

}  // namespace perfcast::program
