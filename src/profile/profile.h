#pragma once
// A profile: the counters of one program, taken on one host, with where they came from. JSON: perfcast.profile/1.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "machine/facts/core_design.h"
#include "machine/facts/host_facts.h"
#include "profile/metrics/catalogue.h"

namespace perfcast {

// One collector's part in a profile.
struct CollectorRecord {
  std::string name;                 // "native", "oclgrind", "qemu", "cachegrind", "perf_event", "cores"
  std::string version;              // of the tool
  std::optional<double> seconds_s;  // what it took; absent where it did not run or nobody timed it
  std::string status;               // "ok", "failed", "skipped"
  std::string note;                 // why not, or what to know about its values
  bool operator==(const CollectorRecord&) const = default;
};

struct ProfileWarning {
  std::string code;  // "non-zero-exit", "clock-bound", "exec-not-followed", "multiplexed", ...
  std::string message;
  std::string advice;
  bool operator==(const ProfileWarning&) const = default;
};
// True for a warning that puts the profile's use in doubt; the others are notes about its precision.
bool is_serious(const ProfileWarning& warning);

// A slice of the run by instructions; same metric names as the whole.
struct ProfilePhase {
  double first_instruction_count = 0;
  double instructions_count = 0;
  MetricValues metrics;
  std::optional<size_t> kind;          // index of PhaseSet::kinds
  std::optional<double> native_cpu_s;  // of a native run, aligned by the code that ran
  bool operator==(const ProfilePhase&) const = default;
};

// Slices that are alike.
// A function, or a file without symbols, that a part of the CPU time went to.
struct TimedFunction {
  std::string function;  // empty: no symbol covers the code
  std::string file;      // of the program or library, without its folders
  double time_ratio = 0;
  bool operator==(const TimedFunction&) const = default;
};
struct PhaseKind {
  double instructions_count = 0;
  double visits_count = 0;          // times that the program came to it
  size_t representative_phase = 0;  // index of Profile::phases: nearest to the middle of its kind
  std::optional<double> native_cpu_s;
  std::optional<double> native_deviation_s;  // standard deviation over native runs; absent of a single one
  MetricValues metrics;                      // of its slices together
  std::vector<TimedFunction> functions;      // by native time, the longest first; empty: not known
  bool operator==(const PhaseKind&) const = default;
};
// Of Profile::phases.
struct PhaseSet {
  std::string program;                           // whose slices they are: that of most instructions
  double instructions_ratio = 1;                 // of all instructions that the run counted
  std::vector<PhaseKind> kinds;                  // in the order in which the program comes to them
  std::vector<std::vector<double>> transitions;  // [from][to]: slices of `to` right behind one of `from`
  bool operator==(const PhaseSet&) const = default;
};

// All processes of one program among those that the command started. Counters of some may stand for all.
struct ProfilePart {
  std::string program;            // name of its file: "cc1"
  std::string command;            // of one of them, for people
  double processes_count = 0;     // that ran natively; of the instrumented run where there was no native one
  double instrumented_count = 0;  // that were counted
  std::optional<double> cpu_s;    // of all of them, natively
  MetricValues metrics;           // as a profile's
  bool operator==(const ProfilePart&) const = default;
};

// An interval of a native run; means over it, of all processes and threads together.
struct CourseInterval {
  double length_s = 0;
  double running_count = 0, ready_count = 0,
         blocked_count = 0;            // threads on a CPU, waiting for one, waiting for others
  double system_ratio = 0;             // share of its CPU time in the kernel
  double page_faults_minor_count = 0;  // in it
  double resident_bytes = 0;           // at its end
  bool operator==(const CourseInterval&) const = default;
};

// What one thread did under instrumentation. Threads that lived after one another may be counted as one.
struct ThreadCounts {
  std::string program;
  MetricValues metrics;
  bool operator==(const ThreadCounts&) const = default;
};

// A launch of an OpenCL kernel that was counted.
struct KernelLaunch {
  double number = 0;                                  // among the kernel's launches, from 0
  double stands_for_count = 1;                        // launches: those up to the next one that was counted
  std::array<double, 3> global_size{}, local_size{};  // work items, of the launch and of a group
  MetricValues metrics;
  bool operator==(const KernelLaunch&) const = default;
};
// An OpenCL kernel, counted without a device.
struct ProfileKernel {
  std::string name;
  double launches_count = 0;
  double work_items_count = 0;         // of all launches
  std::vector<KernelLaunch> launches;  // that were counted, in their order; empty: none was
  MetricValues metrics;                // of one launch: the mean over all, each as one that stands for it
  bool operator==(const ProfileKernel&) const = default;
};
// A metric that some of the launches lack is not in the mean.
MetricValues mean_metrics(const std::vector<KernelLaunch>& launches);

// Of a run that was counted for its beginning only.
struct PartlySeen {
  double seen_ratio = 1;    // of its work
  double unlike_ratio = 0;  // how unlike the beginning all of it looked natively: 0 alike, 1 nothing of it was alike
  // How many instructions all of it has was counted natively. Otherwise `metrics` has counts stretched by an estimate,
  // for what needs their ratios; whole_metrics.h gives people and files the others.
  bool knows_whole_counts = false;
  bool operator==(const PartlySeen&) const = default;
};

struct Profile {
  std::string program;  // short name for people
  std::vector<std::string> command;
  HostFacts host;
  std::string instruction_set;                 // of the program: "x86_64", "aarch64"
  std::string started_utc;                     // ISO 8601
  MetricValues metrics;                        // counters and derived, by catalogue name
  std::map<std::string, std::string> missing;  // metric -> why
  std::vector<CollectorRecord> collectors;
  std::vector<ProfileWarning> warnings;
  std::vector<ProfilePhase> phases;
  std::optional<PhaseSet> phase_kinds;  // where `phases` were asked for
  std::vector<ProfilePart> parts;  // of more than one program, most CPU time first; metrics above are of all together
  // Share of the native CPU time that the counters account for; absent where nothing says.
  std::optional<double> accounted_cpu_ratio;
  // Of a sampled profile: counters and metrics of `metrics` that differ, each time from a part of the windows as if
  // those were all. How much they differ says how far the sampled metrics are off.
  std::vector<MetricValues> replicates;
  std::optional<PartlySeen> partly_seen;
  std::vector<CourseInterval> course;  // of the first native run; empty where it was too short
  std::vector<ThreadCounts> threads;   // where there were several, most instructions first, at most 64
  std::vector<ProfileKernel> kernels;  // of an OpenCL program, in the order of their first launches
  // By core design what a model of it puts the modelled cycles down to; shares below a thousandth are left out.
  std::map<std::string, CoreBoundRatios> core_bounds;
  std::optional<int> exit_code;  // absent where killed by a signal
  std::optional<int> signal;
  bool ok() const { return exit_code == 0 && !signal; }
  // Units of work one run did (bogo operations, bytes, ...), where the suite knows: time per unit = cpu time / work.
  std::optional<double> work_units;
  std::string work_unit;
  bool operator==(const Profile&) const = default;
};

// How parallel a run was, by its course; zeros where there is none.
struct Parallelism {
  double running_count = 0, ready_count = 0;  // mean over the time
  double most_running_count = 0;              // of an interval
  double parallel_time_ratio = 0;             // share of the time in which more than 1.2 threads ran
};
Parallelism parallelism_of(const std::vector<CourseInterval>& course);

// One part, or one launch of an OpenCL kernel, as a profile of its own. Error "unknown-process" names those that there
// are.
Result<Profile> profile_of_part(const Profile& profile, const std::string& program);

inline constexpr const char* kProfileSchema = "perfcast.profile/1";

Json to_json(const Profile& profile);
Json to_json(const std::vector<TimedFunction>& functions);
// `source` names the file in errors. Unknown metric names are kept; unknown schema versions are "future-version".
Result<Profile> profile_from_json(const Json& json, const std::string& source);
Result<Profile> read_profile(const std::string& path);

}  // namespace perfcast
