#pragma once
// From samples of a machine's counters to the inputs of its power: how much of the machine is busy, at which clock,
// with how much work per cycle, and what else its counters say.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "base/unknown.h"
#include "measure/power/model/power_design.h"
#include "measure/power/table/counter_role.h"
#include "measure/power/table/power_table.h"

namespace perfcast::measure {

// How much of the table models see. More is not better: a workload that was never seen has other mixes of counters.
enum class ActivitySet {
  kLoad,      // load, clock, instructions per cycle, waiting for I/O
  kCounters,  // and every other counter, plain and as a square root
  kHistory,   // and the sample before in the same run: meters lag
  kPlain,     // the table's columns as they are, nothing derived
};
const char* to_text(ActivitySet set);
Result<ActivitySet> parse_activity_set(const std::string& text);

// Inputs, with u the busy share of the machine (cpu_user + cpu_system or a column of utilisation; without one the
// cycles' share of frequency x cores), c the cycles' share of the capacity, i the instructions'; capacity: frequency x
// cores where the table has them, else what a busy machine does, the median of cycles / u above u = 0.3:
//   1 - exp(-30 u): cores wake up, and shared parts with them; u, sqrt(u c/u), u x clock, u x clock^2, u i/c
// with clock = c / u over several minutes, since counters that are taken in turns drift against each other, and i/c
// over nine samples. Where frequency and voltage are known, watts are forecast as a multiple of V^2 f cores (the
// dynamic power of CMOS), and temperature, voltage and the first sample of a run are inputs.
class ActivityFeatures {
 public:
  // Scales of counters come from `which` rows' counters, never from their watts. A machine that has none there gets
  // its capacity from its own rows' counters when it is met.
  static ActivityFeatures learn(const PowerTable& table, const std::vector<size_t>& which, ActivitySet set);

  PowerDesign design(const PowerTable& table) const;
  ActivitySet set() const { return set_; }
  const std::vector<std::string>& counters() const { return counters_; }
  // Those of counters() that inputs are made of.
  std::vector<std::string> needed_counters() const;
  // Cycles a second of a machine that is busy; absent: not learnt.
  std::optional<double> capacity(const std::string& machine) const;
  // Whether the counter, a share or an input by itself, was learnt as so many of a hundred.
  bool is_percent(const std::string& counter) const;
  // The group of a row: "node1 2400 MHz 8 cores", of what the table tells.
  std::string group_of(const PowerTable& table, size_t row) const;
  // Frequencies this close are one group: 1 MHz, more where they were measured (table_settings.h).
  double clock_step_hz() const { return clock_step_hz_; }
  // Shares of the table that are taken for percent because the model's samples were, and that their own values would
  // not tell: a machine that idles, or shares of 1.
  std::vector<std::string> percent_by_model(const PowerTable& table) const;

  Json to_json() const;
  static Result<ActivityFeatures> from_json(const Json& json, const std::string& path);

 private:
  struct Columns;
  // What all of a machine's time is in each column of shares: 1 or 100.
  using Wholes = std::map<std::string, double>;
  static Wholes wholes_of(const PowerTable& table);
  static Wholes wholes_by_values(const PowerTable& table);  // as files without wholes have them
  Wholes wholes_for(const PowerTable& table) const;
  static ActivityFeatures learn(const PowerTable& table, const std::vector<size_t>& which, ActivitySet set,
                                const Columns& columns);
  double capacity_of(const PowerTable& table, const Columns& columns, int machine) const;

  ActivitySet set_ = ActivitySet::kLoad;
  std::vector<std::string> counters_;  // that the training table had
  std::vector<std::string> others_;    // of them, those that are inputs by themselves
  Eigen::VectorXd other_scale_;        // their 99% quantile per capacity
  std::vector<std::string> machines_;  // whose capacity was learnt
  Eigen::VectorXd capacity_;           // cycles a second; 0: not known
  double clock_step_hz_ = 1e6;
  double step_s_ = kUnknown;      // between samples; NaN: not known
  std::optional<Wholes> wholes_;  // of the training table; absent: the model's file doesn't say
};

}  // namespace perfcast::measure
