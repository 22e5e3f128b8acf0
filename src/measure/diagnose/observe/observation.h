#pragma once
// What a native run of a program showed from outside: where its CPU time went, function by function, and what its
// threads waited for.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/process.h"
#include "base/result.h"
#include "measure/diagnose/observe/code_map.h"
#include "measure/diagnose/observe/mapped_files.h"
#include "measure/diagnose/observe/script_lines.h"
#include "measure/diagnose/observe/thread_states.h"
#include "measure/diagnose/observe/timeline.h"
#include "profile/collect/native/perf_event_collector.h"
#include "profile/metrics/catalogue.h"

namespace perfcast {
struct CpuSamples;
}  // namespace perfcast

namespace perfcast::measure {

// What a function that runs on a program's behalf is for.
enum class CodeRole : uint8_t {
  kOwn,         // the program's, or a library's own work
  kAllocation,  // malloc, free, new, delete
  kCopy,        // memcpy, memmove, strcpy, string appends
  kFill,        // memset
  kCompare,     // memcmp, strcmp
  kLock,        // mutexes, conditions, barriers
  kException,   // unwinding
  kYield,       // sched_yield, pause loops of runtimes
  kClock,       // asking for the time
  kLoader,      // the dynamic linker
  kBlas,
  kInputOutput,
  kText,       // text by the rules of a locale: order, letters, characters of several bytes
  kFileNames,  // opening, closing, finding files
  kLength,     // looking for the end of a string
  kLetters,    // one letter of a stream at a time
};
inline constexpr size_t kCodeRoles = 16;
std::string_view code_role_text(CodeRole role);

// Libraries that work for whoever calls them.
bool is_runtime_library(const std::string& path);

// Whose work a function is, by its name and library.
CodeRole code_role_of(const std::string& function, const std::string& library);

// "multiply" of "(anonymous namespace)::multiply(double const*) [clone .constprop.0]", "std::map<..>::find" of a
// template's: for people, who don't need what overloads differ by.
std::string short_function_name(const std::string& name);

// What an instruction of a loop read or wrote while it was sampled, by the registers that form its address.
struct LoopStream {
  uint64_t instruction = 0;  // its address, as the file numbers it
  uint32_t loaded_bytes = 0, stored_bytes = 0;
  uint64_t lowest = 0, highest = 0;  // addresses of the process; highest: behind the last byte
  double samples_count = 0;
  double range_bytes() const { return static_cast<double>(highest - lowest); }
};

// The innermost loop around where most of a function's samples lie.
struct HotLoop {
  uint64_t address = 0, end = 0;  // as the file numbers it; end: of the branch back
  double cpu_share = 0;           // of all samples
  std::vector<CodeInstruction> instructions;
  std::vector<LoopStream> streams;  // where addresses change by a step alone
  size_t count(CodeTrait trait) const;
  uint32_t vector_bits() const;  // the widest; 0: no float or vector
};

struct HotFunction {
  std::string function;  // empty: no symbol covers it
  std::string library;   // path of its file; "[kernel]"
  // As the file numbers them; 0 bytes: no symbol says where it lies.
  uint64_t address = 0, bytes = 0;
  std::string source;
  int line = 0;  // where most samples lie
  std::string compiler;
  CodeRole role = CodeRole::kOwn;
  double cpu_share = 0;     // of all samples, 0 to 1
  double kernel_share = 0;  // of all samples: those in the kernel that this function's calls caused
  // Of code that works for its caller (another role, a library, a header of the system): the nearest function of the
  // user's that most often called it.
  std::string caller;
  std::string caller_place;  // its source and line
  std::string entry;         // the library's function that the caller called, and that led here
  double caller_share = 0;   // of this function's samples
  // Of this function's samples, those on or right behind an instruction of the kind.
  double divide_share = 0, float_divide_share = 0, atomic_share = 0, pause_share = 0, indirect_call_share = 0;
  double float_share = 0, vector_share = 0, load_share = 0;
  double stack_operand_share = 0;  // where it has a loop, on the average with the share of its instructions
  std::optional<HotLoop> loop;
  std::string name() const;  // function, or what is known instead
  std::string short_name() const;
  std::string in_words() const;  // short_name() and place()
  bool works_for_caller() const;
  std::string own_words() const;  // of the user's own code: this, or the caller
  std::string place() const;      // "file.cc:12", or the library's name
};

// What threads waited for at a place of the program.
struct WaitPlace {
  ThreadState state = ThreadState::kOther;
  double s = 0;  // of all threads
  double first_thread_s = 0;
  std::string call;          // the system call
  std::string entry;         // the library's function that the user's own code called: "pthread_mutex_lock"
  std::string function;      // the nearest of the user's own; empty: not known
  std::string source;        // "file.cc:12"
  size_t objects_count = 0;  // locks, or what else is waited for, by their addresses
  size_t threads_count = 0;
  std::string in_words() const;
};

// Time in which fewer threads ran than could, and the one that did.
struct LoneTime {
  double s = 0;
  double lost_ratio = 0;  // of the wall time, that would go if all CPUs shared that work
  std::string where;      // what it ran most
};

struct Observation {
  ProcessOutcome run;
  std::set<std::string> libraries;  // names of the files whose code was mapped; empty: not known
  double samples_count = 0;
  double lost_ratio = 0;
  std::string no_samples;                       // why there are none
  std::vector<HotFunction> functions;           // largest share first; those below 0.2% are left out
  std::array<double, kCodeRoles> role_share{};  // of all samples, callers' own work excluded
  std::optional<double> kernel_share;           // of all samples; absent where the kernel may not be looked at
  ThreadTimes threads, first_thread;
  ThreadTimes idle;                // wall time in which no thread ran, by what was waited for
  std::vector<WaitPlace> waits;    // longest first
  std::vector<ScriptLine> script;  // of Python scripts, most time first
  LoneTime serial, uneven;  // the first thread alone; others alone, while those that were through waited for them
  LoneTime single;          // one thread alone, which all others only waited for, all the time
  int64_t looks = 0;
  std::string no_system_calls;  // why what threads wait for is not known
  double processes_started_count = 0, programs_started_count = 0, threads_started_count = 0;
  bool has_starts = false;  // whether these three were counted
  MappedFiles mapped;       // files whose code was mapped; empty where nobody asked
  double ready_s = 0;       // threads' time without a CPU, summed; from the course of the run
  MetricValues hardware;    // hw_* metrics of this run, where the processor's counters can be read
  std::string no_hardware;  // why there are none; empty: there are, or nobody asked
  RunTimeline timeline;
  std::string shim, started_by_shim;  // a script that the command names, and the program that it became; empty: none
  std::vector<std::string> notes;
  double share_of(CodeRole role) const { return role_share[static_cast<size_t>(role)]; }
};

struct ObserveRequest {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  // added to ours
  InputFeed* input = nullptr;
  AroundRun around;
  bool pass_output = false;
  double limit_s = 0;
  double cpus_count = 1;                   // that the program may use
  double samples_per_s = 997;              // of CPU time
  PerfEventCollector* hardware = nullptr;  // whose counters are read where they can be; null: none
  bool watch_mappings = false;             // for Observation::mapped
};

// Runs the program once. Errors: inspect_program()'s and run_process()'s. A run that fails is observed, too.
Result<Observation> observe(const ObserveRequest& request);

// The samples of one run, summed up by function: shares of the samples. Of each sample, which of the functions it
// belongs to; kNoFunction: one that is too small to be listed.
inline constexpr int32_t kNoFunction = -1;
std::vector<int32_t> summarise_samples(const CpuSamples& samples, CodeMap& code, Observation& observation);

}  // namespace perfcast::measure
