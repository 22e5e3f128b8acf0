#pragma once
// A benchmark's report as people read it.

#include <string>

#include "ai/bench/bench_forecast.h"
#include "ai/bench/bench_run.h"
#include "ai/bench/bench_suite.h"
#include "ai/bench/bench_sweep.h"

namespace perfcast::cli {

// "VALID", "MISSED" (an objective), "NOT COMPARABLE" (too short for the field's rules) or "INVALID".
std::string bench_verdict(const ai::BenchReport& report);
std::string bench_text(const ai::BenchReport& report);
// A line for each scenario, then what is broken in which.
std::string bench_suite_text(const ai::BenchSuite& suite);
// The verdict, a line for each load, then what is broken in which.
std::string bench_sweep_text(const ai::BenchSweep& sweep);
std::string bench_forecast_text(const ai::BenchForecast& forecast);

// For the line that shows how far a run is.
std::string bench_progress(const std::string& what, const ai::LoadProgress& progress);

}  // namespace perfcast::cli
