#pragma once
// Of the traces that the processes of a run left, those that are kept, each piece standing for its part of the run.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "profile/trace/trace.h"

namespace perfcast {

struct TracedProcess {
  ProcessTrace trace;
  double instructions_count = 0;  // that it ran, as often as it counts for others that were not instrumented
};

// The largest processes, at most `most`, as long as they stay within `most_bytes`. A piece stands for its share
// of what its process says, a process for its share of the instructions of its program in the run, those of processes
// left out included; `instructions_by_program` has them by the name of the program's file. Programs of which no process
// is kept are nobody's. Processes without a piece are left out.
std::vector<ProcessTrace> kept_processes(std::vector<TracedProcess> processes,
                                         const std::map<std::string, double>& instructions_by_program, size_t most,
                                         size_t most_bytes);

}  // namespace perfcast
