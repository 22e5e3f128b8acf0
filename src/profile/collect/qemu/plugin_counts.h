#pragma once
// The counts that the QEMU plugin writes, one file per process and program; plugin/README.md describes them.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/collect/collector.h"
#include "profile/collect/qemu/wider_code.h"

namespace perfcast {

enum class PluginEnd {
  kExit,      // the process ended, by itself or by a signal
  kUnseen,    // it became a program that ran without the emulator
  kFollowed,  // it became a program with a file of its own
};

// Of one program in one process, from its start (or its fork) to its end or next exec.
struct PluginCounts {
  std::string source;  // as given to parse_plugin_counts(): name of the file
  std::string arch;    // "x86_64", "aarch64"
  std::string mode;    // "full", "mix"
  int64_t process = 0, parent = 0;
  bool forked = false;           // a copy of the parent's program, without an exec of its own
  std::string program, command;  // path, and arguments for people; may be empty
  PluginEnd end = PluginEnd::kExit;
  std::string exec_path, exec_why;  // what it became; why that was not followed
  int signal = 0;                   // that killed it
  uint64_t emulated_us = 0;         // CPU time under the emulator
  int64_t group = -1, unit = -1;    // of the follow plan, and which of its members; -1: none
  std::map<std::string, uint64_t, std::less<>> counts;
  std::vector<ExecutedFile> files;                                    // where they were asked for
  std::vector<std::map<std::string, uint64_t, std::less<>>> threads;  // where there were several: by their number
  // Of a sampled process: some of the counts once more, each time from a part of the windows. Empty, or kReplicates.
  std::vector<std::map<std::string, uint64_t, std::less<>>> replicates;
};

inline constexpr size_t kReplicates = 8;

// Strict: an unknown version, a line that is no "key value", a key twice, or a missing end are errors.
Result<PluginCounts> parse_plugin_counts(std::string_view text, const std::string& source);

// All processes of one program, by the name of its file.
struct ProgramCounts {
  std::string name;     // "cc1"
  std::string command;  // of the process with most instructions
  size_t processes = 0;
  double represented = 0;  // processes that they stand for
  double emulated_s = 0;
  std::map<std::string, double, std::less<>> counts;  // weighted sums
};

struct ThreadOfRun {
  std::string program;  // name of its file
  std::map<std::string, double, std::less<>> counts;
};

struct RunCounts {
  std::string arch;  // of most instructions
  std::string mode;
  size_t processes = 0;
  std::map<std::string, double, std::less<>> counts;                   // of all
  std::vector<ExecutedFile> files;                                     // of all, one for each mapping and process
  std::vector<ProgramCounts> programs;                                 // most instructions first
  std::vector<ThreadOfRun> threads;                                    // of processes that had several; most first
  std::vector<UnseenProgram> unseen;                                   // most often first
  std::vector<std::string> other_arches;                               // that some processes ran
  std::vector<std::map<std::string, double, std::less<>>> replicates;  // of all counts; empty where nothing was sampled
};

// All files of one run added up; a file of group g counts `weights[g]` times. In replicates the members of a group are
// dealt to them in turn, each standing for all. Error "no-counts", and
// "bad-plugin-counts" for different modes or a group without a weight.
Result<RunCounts> join_plugin_counts(const std::vector<PluginCounts>& parts, const std::vector<double>& weights,
                                     const std::string& source);

}  // namespace perfcast
