#pragma once
// Runs one program to its end and observes it from outside. Whatever happens to it or to us, nothing is left running:
// an interrupt, a time limit, or our own violent death end the program with all its descendants.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/process/input_feed.h"
#include "base/process/run_course.h"
#include "base/result.h"

namespace perfcast {

enum class StreamTo {
  kPass,     // ours
  kDiscard,  // /dev/null
  kStderr,   // our stderr
  kTail,     // kept: the last 4 KiB
  kDigest,   // read and hashed: `output` only
  kGiven,    // `given_descriptor` of the request
};

// Lines for a shell that put things back for each run of a program: one before it, one after it, whatever became of it.
// They see the environment as it is, read nothing, and are not part of the run's time or limit. Empty: nothing.
struct AroundRun {
  std::string prepare, cleanup;
};

struct ProcessRequest {
  std::string executable;                          // path for execve
  std::vector<std::string> arguments;              // argv, with argv[0]
  std::map<std::string, std::string> environment;  // added to ours
  InputFeed* input = nullptr;                      // null: /dev/null
  AroundRun around;
  StreamTo output = StreamTo::kDiscard;
  int given_descriptor = -1;  // of kGiven: stays the caller's
  std::string output_file;    // where output goes instead, written anew; empty: none
  StreamTo error = StreamTo::kTail;
  double limit_s = 0;             // 0: none
  double memory_limit_bytes = 0;  // of all its processes together; above it they are killed. 0: none
  bool fixed_addresses = false;   // no address space randomisation, for counts that repeat
  bool watch = false;             // sample open descriptors and threads while it runs
  // What the program started and left behind when it ended by itself: kept running, or ended.
  bool keep_background = false;
  // Called with the stopped child right before it becomes the program.
  std::function<void(pid_t)> before_exec;
  // Called with every look of `watch`: seconds since the start, and the program's processes, its own last. What it
  // costs makes looks rarer, but for `looks_apart_s`, where that is not 0: so far apart at most.
  std::function<void(double, const std::vector<pid_t>&)> on_look;
  double looks_apart_s = 0;
};

struct ProcessIo {
  double read_bytes = 0, written_bytes = 0;  // by system calls
  double read_calls = 0, write_calls = 0;
  double storage_read_bytes = 0, storage_written_bytes = 0;  // that reached storage
};

// What a program wrote: equal texts have equal digests.
struct OutputDigest {
  double bytes = 0;
  uint64_t hash = 0;
  bool operator==(const OutputDigest&) const = default;
};

struct ProcessOutcome {
  std::optional<int> exit_code, signal;  // exactly one
  bool limit_reached = false;            // and therefore ended by us
  bool memory_limit_reached = false;     // likewise
  double wall_s = 0, user_s = 0, system_s = 0;
  // Of the largest process; absent for a program that was smaller than we are and too short to be seen.
  std::optional<double> peak_resident_bytes;
  std::optional<double> peak_address_bytes;  // address space of the largest process, where it was watched and seen
  double minor_faults = 0, major_faults = 0, voluntary_switches = 0, involuntary_switches = 0;
  std::optional<ProcessIo> io;  // with the children it waited for
  // Most seen at once, children included; absent where the program was too short to be seen.
  std::optional<int64_t> threads, processes, descriptors;
  bool had_children = false;        // started other processes, as far as it waited for them or they were seen
  int left_behind = 0;              // descendants alive when it ended
  std::vector<RunInterval> course;  // where it was watched, and long enough
  std::string error_tail;
  std::optional<OutputDigest> digest;  // where output went to kDigest
  double cpu_s() const { return user_s + system_s; }
  bool ok() const { return exit_code == 0; }
};

// Errors: "program-not-found", "not-executable", "exec-failed", "interrupted" (interrupting_signal() tells by what),
// "prepare-failed" and "cleanup-failed", whose `where` is the field's name.
// One at a time per process: it adopts the program's orphans.
Result<ProcessOutcome> run_process(const ProcessRequest& request);

// Whether a run went wrong for what was to be run around it: no other run would do better.
bool is_of_around(const Error& error);

}  // namespace perfcast
