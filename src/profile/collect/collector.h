#pragma once
// One interface for everything that measures a program.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process/process.h"
#include "base/process/process_census.h"
#include "base/result.h"
#include "profile/profile.h"

namespace perfcast {

class InputFeed;
struct CodeCourse;
struct CoreDesign;
struct ExecutedCode;
struct PhaseSeries;
struct SharedLines;
struct Trace;

struct CollectRequest {
  std::vector<std::string> command;  // argv; command[0] resolved by PATH
  double limit_s = 0;                // 0: none; over the whole profile
  AroundRun around;                  // of every run
  int native_repeats = 3;
  double native_series_s = 10;  // native runs are repeated until they took this together
  bool pass_output = true;      // false: the program's stdout is discarded (or goes to stderr, see show_output)
  bool show_output = false;
  bool mix_only = false;      // opcode mix only: one instrumented run, no native one
  bool cross_check = false;   // cachegrind besides the plugin
  bool needs_counts = false;  // a profile without instruction counts is of no use: say so before anything slow
  bool must_succeed = false;  // nothing is instrumented after a native run that failed
  bool exact = false;         // caches and branches simulated all the time, not in windows
  bool opencl = false;        // OpenCL kernels are looked for, whatever the program's file says
  bool quick = false;         // one native run, fewer windows, the beginning alone where that takes long
  std::string trace_path;     // where windows go as a trace (perfcast.trace/1); empty: none
  // Core designs that the windows are run through, their cycles becoming metrics; null: none.
  std::shared_ptr<const std::vector<CoreDesign>> core_designs;
  // Where lines that several threads write are put, where an instrumenter sees any; null: nobody looks for them.
  std::shared_ptr<SharedLines> shared_lines;
  // Filled by the instrumenter with what ran; null: not wanted.
  std::shared_ptr<std::vector<ExecutedCode>> executed_code;
  // Filled by native runs, one for each, and by the instrumenter with the counts over time of the process that ran most
  // instructions; null: not wanted.
  std::shared_ptr<std::vector<CodeCourse>> code_courses;
  std::shared_ptr<PhaseSeries> phase_series;
  double native_cpu_s = 0;                                   // of a native run, for instrumenters; 0: none
  double native_memory_bytes = 0, native_address_bytes = 0;  // likewise: as Collection's
  bool wants_output = false;                                 // instrumented: its output is hashed, not discarded
  InputFeed* input = nullptr;  // the program's standard input, shared by all runs; null: it reads nothing
  // Of a native run, for instrumenters that need not follow every process; empty where there was no other process.
  std::vector<CensusEntry> census;
  // profile_command(): the descriptor that `input` is made of where that is null; -1: the program reads nothing.
  int input_descriptor = 0;
};

// Counters of all processes of one program.
struct CollectedPart {
  std::string program, command;  // name of its file; arguments of one of them
  size_t processes = 0;          // that were counted
  double represented = 0;        // processes that they stand for
  MetricValues counters;
};

struct UnseenProgram {
  std::string path, why;  // why: one word
  size_t times = 0;
};

// What one collector found. Metrics by catalogue name; missing ones with the reason.
struct Collection {
  MetricValues counters;
  std::map<std::string, std::string> missing;
  CollectorRecord record;
  std::vector<ProfileWarning> warnings;
  std::optional<int> exit_code, signal;
  std::string last_words;  // instrumented: the last lines of standard error, where it was kept and the run failed
  std::string instruction_set;
  // An instrumented run's own time, for comparison with the native one.
  std::optional<double> run_wall_s, run_user_s;
  std::vector<CourseInterval> course;  // natively: of the first run
  // Natively: most resident memory of all processes together, and the address space of the largest; 0: not seen.
  double memory_bytes = 0, address_bytes = 0;
  std::vector<OutputDigest> outputs;     // of standard output, where runs wrote little; instrumented: where wanted
  std::vector<ThreadCounts> threads;     // instrumented: as Profile's
  std::vector<CensusEntry> census;       // natively: every process, where there was more than one
  std::vector<CollectedPart> parts;      // instrumented: by program
  std::vector<MetricValues> replicates;  // as Profile's
  std::vector<ProfileKernel> kernels;    // as Profile's
  std::shared_ptr<const Trace> trace;    // where the request wants it for something
  std::vector<UnseenProgram> unseen;     // instrumented: programs that ran without being counted
  // Instrumented, where a limit ended the run: about which share of the work the counts were taken of.
  std::optional<double> seen_ratio;

  // Multiplies what is counted.
  void stretch(double factor) {
    const auto stretch_all = [factor](MetricValues& values) {
      for (auto& [name, value] : values) {
        if (name.ends_with("_count") || name.ends_with("_bytes")) value *= factor;
      }
    };
    stretch_all(counters);
    for (MetricValues& replicate : replicates) stretch_all(replicate);
    for (CollectedPart& part : parts) stretch_all(part.counters);
  }
};

// How a run ended that gave no counts: what follows is the session's to decide.
enum class RunEnd {
  kError,          // the collector could not do its work
  kLimit,          // the time limit ended it
  kMemory,         // it took, or would have taken, more memory than the collector allows itself
  kProgramFailed,  // the program died under it before it could report
};

// A collection, or why there is none.
class [[nodiscard]] CollectResult {
 public:
  CollectResult(Collection collection) : result_(std::move(collection)) {}
  CollectResult(Error error) : result_(std::move(error)) {}
  CollectResult(RunEnd end, Error error) : result_(std::move(error)), end_(end) {}

  bool ok() const { return result_.ok(); }
  explicit operator bool() const { return ok(); }
  Collection& operator*() { return *result_; }
  const Collection& operator*() const { return *result_; }
  Collection* operator->() { return &*result_; }
  const Collection* operator->() const { return &*result_; }
  const Error& error() const { return result_.error(); }
  RunEnd end() const { return end_; }  // where there is none

 private:
  Result<Collection> result_;
  RunEnd end_ = RunEnd::kError;
};

// What `perfcast doctor` says of one thing.
struct DoctorFinding {
  std::string name;    // "cachegrind"
  std::string status;  // "ok", "limited" (works in part), "missing"
  std::string detail;  // what is there, or why not
  std::string advice;  // how to get it; empty where there is nothing to do
};

class Collector {
 public:
  virtual ~Collector() = default;
  virtual std::string name() const = 0;
  // Why it can't be used here, or ok: for fallbacks.
  virtual Status available() const = 0;
  virtual CollectResult collect(const CollectRequest& request) = 0;
  // Whether it works here, tried on a program that does nothing.
  virtual DoctorFinding examine() = 0;

 protected:
  // Runs `true` once.
  static CollectRequest trial_request() {
    CollectRequest request;
    request.command = {"true"};
    request.limit_s = 20;
    request.native_repeats = 1;
    request.pass_output = false;
    return request;
  }
  DoctorFinding missing(const Error& error) const { return {name(), "missing", error.message, error.expected}; }
};

// All of them, in the order in which `perfcast doctor` names them: session/collectors.cc lists them.
std::vector<std::unique_ptr<Collector>> all_collectors(const HostFacts& host);

// Runs native first, then the best available instrumenter, merges, derives and judges. progress(text) is called with a
// short line; it is only shown on a terminal.
Result<Profile> profile_command(const CollectRequest& request, const std::function<void(const std::string&)>& progress);

}  // namespace perfcast
