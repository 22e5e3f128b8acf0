#pragma once
// A benchmark's report as people read it.

#include <string>

#include "scenario/bench/bench_run.h"

namespace perfcast {

std::string bench_text(const BenchReport& report);

// For the line that shows how far a run is.
std::string bench_progress(const std::string& what, const LoadProgress& progress);

}  // namespace perfcast
