#pragma once
// The course of a diagnosed run as a trace (base/report/chrome_trace.h).

#include <string>

#include "measure/diagnose/observe/observation.h"

namespace perfcast::measure {

// Process 0 is the run: its phases as complete events, and counters: CPUs in use by user code and kernel, threads, and
// those that wait, resident memory, page faults a second. Every process of the program has a track for each of its
// threads: what it ran, or what it waited for, with the system call where that is known. Times are microseconds since
// the start of the run; events of a thread don't overlap. At most RunTimeline::kMostSpans and some thousand counters.
std::string diagnosis_trace(const Observation& seen, const std::vector<std::string>& command);

}  // namespace perfcast::measure
