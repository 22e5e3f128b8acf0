#pragma once
// A forecast as people read it.

#include <string>

#include "program/forecast/forecast.h"

namespace perfcast::cli {

struct ForecastView {
  bool explain = false;       // why, core designs, groups, unusual features, how the host was recognised
  size_t most_instances = 0;  // of the list of instances; 0: all
  size_t most_rows = 0;       // of the platforms, and behind them those that are this host or were measured; 0: all
  bool is_markdown = false;   // tables for a page
  bool is_coloured = false;   // for a terminal: what must not be overlooked
  bool answer_only = false;   // the fastest and the cheapest without tables where there is such an answer
};

std::string forecast_text(const program::ForecastReport& report, const ForecastView& view);

// A row for each platform, numbers in full: platform, vendor, kind, arch, rel_time_ratio, its interval, time_s, its
// interval, cost, measured, host; where energy was asked for rel_energy_ratio and energy_joules with their intervals,
// energy_delay_joule_s and energy_basis.
std::string forecast_csv(const program::ForecastReport& report);

// A row for each instance of the report: cloud, instance, platform, vcpus_count, memory_gib, wall_s of one run, copies,
// runs an hour of them with their interval, price, cost of 1,000 runs, currency.
std::string instances_csv(const program::ForecastReport& report);

}  // namespace perfcast::cli
