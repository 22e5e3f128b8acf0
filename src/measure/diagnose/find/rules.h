#pragma once
// From what was seen to findings. Each rule looks at one cause; docs/diagnose.md says how each finds it and how it can
// be wrong.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/diagnose/find/finding.h"
#include "measure/diagnose/find/machine_costs.h"
#include "measure/diagnose/find/thread_scaling.h"
#include "measure/diagnose/observe/observation.h"
#include "measure/diagnose/roofline/roofline.h"
#include "profile/collect/qemu/shared_lines.h"
#include "profile/core/design.h"
#include "profile/profile.h"

namespace perfcast::measure {

// A line that several threads write, and whose code that is.
struct SharedPlace {
  SharedCacheLine line;
  std::vector<std::string> functions;  // of each of its users, as people read them; empty: not known
  std::vector<CodeRole> roles;         // of the same
};

struct Evidence {
  explicit Evidence(const Observation& observation) : seen(observation) {}

  const Observation& seen;
  MachineCosts costs;
  double cpus_count = 1;  // that the program may use
  bool has_avx512 = false, has_avx2 = false;
  const Profile* profile = nullptr;  // instrumented counts; null: none yet
  bool takes_rough_counts = false;   // counts of a small part of the run count, too: for what they are of, not how many
  const CoreDesign* design = nullptr;  // this machine's core; null: not known
  const Roofline* roofline = nullptr;  // hot loops beside this machine's ceilings; null: not measured yet
  std::string flush_denormals;         // path of the library that does so when it is loaded; empty: there is none
  int first_cpu = 0;                   // that the program may use
  std::vector<int> cpu_of_each_core;   // of the CPUs that it may use; as many as those where none share a core
  bool may_raise_priority = false;     // whether nice(1) may go below 0 here
  bool can_rebuild = false;            // there is a source tree: experiments may compile it anew
  std::string source_tree;             // its path
  const ThreadCurve* curve = nullptr;  // other numbers of threads; null: not measured
  // Where the number of threads is a word of the command: that, with {threads} in it.
  std::vector<std::string> command_of_threads;
  bool has_shared_lines = false;  // they were looked for
  double shared_accesses_count = 0;
  std::vector<SharedPlace> shared_lines;           // most transfers first
  std::map<std::string, std::string> environment;  // that the program runs in, as far as rules ask for it

  // LD_PRELOAD with one more library, before those that the user has.
  std::string preloaded(const std::string& library) const;
  // GLIBC_TUNABLES with one more, "glibc.malloc.hugetlb=1", behind those that the user has.
  std::string tuned(const std::string& tunable) const;
  double wall_s() const { return seen.run.wall_s; }
  // How much of the wall time a share of the CPU time is: all of it where the program always runs or wants to.
  double busy_ratio() const;
  // Threads that have CPUs enough waited for one: what runs beside the program slows it, more threads as much.
  bool others_took_cpus() const;
  double user_ratio() const;  // likewise, of user code alone: what cycles are counted of
  // Share of the work that the profile's counts were taken of.
  double counted_ratio() const;
  bool has_enough_counts() const { return counted_ratio() >= kLeastSeenWork; }
  std::optional<double> count(const std::string& metric) const;     // of the profile, where it saw enough
  std::optional<double> measured(const std::string& metric) const;  // by hardware counters, of the native run
  // Whether a library of such a name ("libgomp") was loaded; true where nobody knows.
  bool uses_library(const std::vector<std::string_view>& beginnings) const;
  // Of OpenMP's and BLAS libraries' variables, those that something in this program reads, set to a number of threads.
  std::map<std::string, std::string> thread_settings(const std::string& number) const;
  bool uses_openmp() const;
  // What the model of this core says of one bound ("memory"), as a share of the program's cycles.
  double modelled_bound(const char* bound) const;
  // The same of the cycles that it ran for here. Cycles beyond the model's are put down, in proportion, to what the
  // model takes too lightly: a wrong branch, a division or a miss also holds up what comes behind it.
  double held_up_by(const char* bound) const;
  double beyond_model(double share) const;  // likewise of any share of the model's cycles
  // Cycles of this core that the program ran for in user code, by the design's clock.
  std::optional<double> user_cycles() const;
};

// Of fewer samples no share of a function is worth a finding.
inline constexpr double kFewestSamples = 50;

// CPU time of a run, of less of which its start is much, and the rest is known roughly.
inline constexpr double kShortestRun_s = 0.05;

// Cycles of wrong paths, by their penalty: of less, what the model takes too lightly may be anything's.
inline constexpr double kMuchMispredicted = 0.2;

// A wait that takes less of the time is no finding.
inline constexpr double kLeastWaitShare = 0.05;

std::string in_percent(double ratio);  // "12%"
bool has_cause(const std::vector<Finding>& findings, std::string_view cause);
// Adds where most of what threads waited for so was waited for, and by how many.
void add_places(const Evidence& evidence, ThreadState state, Finding& finding);
// The kernel's share of the CPU time: by samples, or by the times that it accounts.
double kernel_of(const Observation& seen);

// CPU time in code that is neither a runtime's nor the kernel's.
double own_work_s(const Observation& seen);
// How many times as long work takes because of what else runs on this machine.
double held_up_by_others(const Evidence& evidence);

// "build (text.cc:12), through std::string::append": whose code causes the function's time.
std::string calls_in_words(const HotFunction& function);

// Largest estimated gain first. Rules that need a profile say nothing without one.
std::vector<Finding> find_causes(const Evidence& evidence);

// Each of these adds what it finds.
void find_in_runtime(const Evidence& evidence, std::vector<Finding>& findings);  // libraries that work on its behalf
void find_in_waiting(const Evidence& evidence, std::vector<Finding>& findings);  // files, processes, times
void find_between_threads(const Evidence& evidence, std::vector<Finding>& findings);  // locks, hand-overs, idle CPUs
void find_in_code(const Evidence& evidence, std::vector<Finding>& findings);          // loops and instructions
void find_in_counts(const Evidence& evidence, std::vector<Finding>& findings);        // caches and branches
void find_in_roofline(const Evidence& evidence, std::vector<Finding>& findings);      // loops that could be faster here
void find_in_sharing(const Evidence& evidence, std::vector<Finding>& findings);   // lines that several threads write
void find_in_settings(const Evidence& evidence, std::vector<Finding>& findings);  // CPUs, priorities, compilers' flags
void find_in_interpreters(const Evidence& evidence, std::vector<Finding>& findings);  // what runs queries or scripts
// Of a script's process: the line that most of the CPU time is in, added to what its libraries' functions show.
void name_script_lines(const Evidence& evidence, std::vector<Finding>& findings);
// The last: it adds to what the others found.
void find_in_curve(const Evidence& evidence, std::vector<Finding>& findings);  // other numbers of threads

// Other BLAS libraries that a distribution puts beside each other, for LD_LIBRARY_PATH; of what `used` isn't.
std::vector<Experiment> other_blas_libraries(const Evidence& evidence, const std::string& used);

// Why no experiment of the findings builds the program with other flags, though it could; empty: one does, or it can't.
std::string why_no_flags(const Evidence& evidence, const std::vector<Finding>& findings);

// Where an interpreter takes the time: no finding, as what it runs isn't seen, but where to look on.
std::vector<std::string> notes_on_interpreters(const Observation& seen);

}  // namespace perfcast::measure
