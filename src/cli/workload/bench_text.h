#pragma once
// A benchmark's report as people read it.

#include <string>

#include "scenario/bench/bench_forecast.h"
#include "scenario/bench/bench_run.h"
#include "scenario/bench/bench_suite.h"

namespace perfcast {

std::string bench_text(const BenchReport& report);
// A line for each scenario, then what is broken in which.
std::string bench_suite_text(const BenchSuite& suite);
std::string bench_forecast_text(const BenchForecast& forecast);

// For the line that shows how far a run is.
std::string bench_progress(const std::string& what, const LoadProgress& progress);

}  // namespace perfcast
