#pragma once
// Time and energy of a program over the clock's frequency, for dynamic voltage and frequency scaling (DVFS).
//
//   time(f)   = T * ((1 - m) * f0 / f + m)    T: its time at f0; m: share of it that waits for memory, whose clock
//   stays energy(f) = active_w(f) * time(f) in a period of P seconds: active_w(f) * time(f) + idle_w(f) * (P - time(f))
//
// The split of a time into a part that follows the core's clock and one that doesn't is that of Choi, Soma and Pedram,
// "Fine-grained dynamic voltage and frequency scaling for precise energy and performance tradeoff", DATE 2004.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

struct FrequencyPower {
  double frequency_hz = 0;
  double active_w = 0;           // while the program runs
  std::optional<double> idle_w;  // while it doesn't
};

// Clocks of processors lie between 10 MHz and 20 GHz. Empty for those; else what would fit in its place, in
// words: "Hz: 2.4e+09 for 2.4 GHz".
std::string clock_that_fits(double frequency_hz);

// CSV with the columns frequency_hz, active_w and, where it is known, idle_w; "#" begins a comment line. In the order
// of the frequencies. Errors with file and line: "missing-column", "bad-number" (none, not above 0, a clock that no
// processor has, above 20 kW, or less power active than idle), "duplicate-frequency", "too-few-rows" (one frequency
// leaves no choice). `form`: how it was read where that isn't plain (CsvTable::form()).
Result<std::vector<FrequencyPower>> parse_frequency_table(std::string_view csv, const std::string& source,
                                                          std::string* form = nullptr);

struct FrequencyQuestion {
  double time_s = 0;        // at time_at_hz, > 0
  double time_at_hz = 0;    // > 0
  double memory_ratio = 0;  // share of time_s that does not follow the clock, 0 to 1
  // A run is due every so often: idle power counts until then. Absent: the run alone.
  std::optional<double> period_s;
};

struct FrequencyPoint {
  double frequency_hz = 0, time_s = 0, joules = 0, energy_delay_js = 0;
  std::optional<double> period_joules;  // where a period is asked for, idle power known and the run done in time
};

struct FrequencyForecast {
  std::vector<FrequencyPoint> points;  // in the order of the table
  size_t best_energy = 0;              // index into points: fewest joules, of equals the fastest
  size_t best_energy_delay = 0;
  std::optional<size_t> best_period;  // fewest joules in a period, of those that are done in time
};

double time_at(const FrequencyQuestion& question, double frequency_hz);

// Errors "bad-usage": a table that is empty, a question outside of what its fields say.
Result<FrequencyForecast> forecast_over_frequency(const std::vector<FrequencyPower>& table,
                                                  const FrequencyQuestion& question);

}  // namespace perfcast
