#pragma once
// From what was seen to findings. Each rule looks at one cause; docs/DIAGNOSE.md says how each finds it and how it can
// be wrong.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/design.h"
#include "corpus/profile.h"
#include "diagnose/find/finding.h"
#include "diagnose/find/machine_costs.h"
#include "diagnose/observe/observation.h"
#include "diagnose/roofline/roofline.h"

namespace perfcast {

struct Evidence {
  explicit Evidence(const Observation& observation) : seen(observation) {}

  const Observation& seen;
  MachineCosts costs;
  double cpus_count = 1;  // that the program may use
  bool has_avx512 = false, has_avx2 = false;
  const Profile* profile = nullptr;    // instrumented counts; null: none yet
  const CoreDesign* design = nullptr;  // this machine's core; null: not known
  const Roofline* roofline = nullptr;  // hot loops beside this machine's ceilings; null: not measured yet
  std::string flush_denormals;         // path of the library that does so when it is loaded; empty: there is none
  int first_cpu = 0;                   // that the program may use
  std::map<std::string, std::string> environment;  // that the program runs in, as far as rules ask for it

  // LD_PRELOAD with one more library, before those that the user has.
  std::string preloaded(const std::string& library) const;
  double wall_s() const { return seen.run.wall_s; }
  // How much of the wall time a share of the CPU time is: all of it where a CPU is always busy.
  double busy_ratio() const;
  double user_ratio() const;  // likewise, of user code alone: what cycles are counted of
  std::optional<double> count(const std::string& metric) const;  // of the profile
  // Cycles of this core that the program ran for in user code, by the design's clock.
  std::optional<double> user_cycles() const;
};

// Of fewer samples no share of a function is worth a finding.
inline constexpr double kFewestSamples = 50;

std::string in_percent(double ratio);  // "12%"

// Largest estimated gain first. Rules that need a profile say nothing without one.
std::vector<Finding> find_causes(const Evidence& evidence);

// Each of these adds what it finds.
void find_in_runtime(const Evidence& evidence, std::vector<Finding>& findings);   // libraries that work on its behalf
void find_in_waiting(const Evidence& evidence, std::vector<Finding>& findings);   // threads, locks, files, processes
void find_in_code(const Evidence& evidence, std::vector<Finding>& findings);      // loops and instructions
void find_in_counts(const Evidence& evidence, std::vector<Finding>& findings);    // caches and branches, modelled
void find_in_roofline(const Evidence& evidence, std::vector<Finding>& findings);  // loops that could be faster here

}  // namespace perfcast
