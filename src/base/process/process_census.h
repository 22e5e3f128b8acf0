#pragma once
// Every process that a program starts, with its CPU time: by ptrace, which stops a process at forks, execs and exits
// only. Costs some 50 microseconds a process; a program that starts none is not disturbed. A program that traces others
// itself can't while it is traced, and setuid programs get no other identity.

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast {

// One program in one process: from an exec or a fork to its end or the next exec.
struct CensusEntry {
  pid_t process = 0;
  int started_by = -1;                 // index of the entry that forked or executed it; -1: the first
  bool forked = false;                 // a copy of its parent's program, without an exec of its own
  std::string program;                 // path of its file; empty where it could not be read
  std::vector<std::string> arguments;  // with argv[0]
  double cpu_s = 0;                    // of all its threads, its children left out
  double minor_faults_count = 0;       // likewise
  std::string name() const { return program.substr(program.rfind('/') + 1); }
  bool ended = true;  // false: it was still running when the census ended
};

class ProcessCensus {
 public:
  ProcessCensus();
  ~ProcessCensus();  // ends the census
  ProcessCensus(const ProcessCensus&) = delete;
  ProcessCensus& operator=(const ProcessCensus&) = delete;

  // From now on: `child`, which stands still before its exec, and all that it starts. Error "no-census" where this
  // machine forbids ptrace.
  Status begin(pid_t child);
  // Call when `child` has ended and what it left behind was ended or is to run on. In the order of their start.
  std::vector<CensusEntry> end();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace perfcast
