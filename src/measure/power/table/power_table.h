#pragma once
// Samples of power beside what a machine did meanwhile: the one form that readers give and models take.

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast::measure {

// Row by row in the order of the file. A run is a stretch of rows that follow each other: it ends where the machine,
// the workload, the setting or the run's own number changes, where time steps back, and at a gap.
struct PowerTable {
  std::vector<std::string> machines, workloads;  // names
  std::vector<std::string> counters;             // names of the columns of `values`
  std::vector<int> machine, workload, run;       // per row; the first two index the names above
  Eigen::VectorXd time_s;                        // NaN: not known
  Eigen::VectorXd watts;                         // NaN: to be forecast
  Eigen::MatrixXd values;                        // [rows x counters]: events a second, or shares; NaN absent
  // Of the setting that a sample was taken at; empty where the table has no such column, NaN where a row says nothing.
  Eigen::VectorXd frequency_hz, voltage_v, temperature_c, cores;

  size_t rows() const { return machine.size(); }
  Eigen::Index counter(std::string_view name) const;  // -1 where there is none
};

struct PowerTableOptions {
  bool counts = false;               // counters are counts since the row before, not rates: divided by the time between
  bool needs_watts = true;           // a table to learn from
  std::vector<std::string> ignored;  // columns to leave out
  size_t most_rows = 2000000, most_columns = 400;
};

// What a reader saw and did not stop at, for a person.
struct PowerTableNotes {
  std::vector<std::string> lines;
};

// CSV with a line of names. Time: time_s, timestamp or time (seconds, ms, us or ns since 1970; told apart by size, all
// brought to seconds). Power: watts, power_w, power_watts or powerWatts. Optional: machine, workload, run,
// frequency_mhz or frequency_hz, voltage_v, temperature_c, cores. Every other column is a counter.
// Rows without a frequency, voltage or number of cores, where the table has the column, are left out, with a note:
// power can't be placed without. "missing-column" without power or without a counter; "bad-number"; "bad-samples" where
// power is not above 0, does not vary, or is in units that can't be (a thousandfold step within one machine, a median
// above 20 kW or below 1 mW); "too-large" beyond the limits.
Result<PowerTable> read_power_table(std::string_view text, const std::string& source, const PowerTableOptions& options,
                                    PowerTableNotes& notes);

// Numbers the runs anew from time, machine, workload, frequency (in steps of clock_step_hz()) and cores; -> the gaps,
// with the longest in seconds, and steps back.
struct PowerGaps {
  size_t count = 0;
  double longest_s = 0;
  size_t back = 0;  // steps back in time within what would else be one run
};
PowerGaps number_runs(PowerTable& table, const std::vector<int>& given_run = {});

// The rows of `which`, in its order; names stay.
PowerTable table_part(const PowerTable& table, const std::vector<size_t>& which);

// What is wrong with the power that a table's rows hold, as read_power_table() has it.
Status check_watts(const PowerTable& table, const std::string& source);

}  // namespace perfcast::measure
