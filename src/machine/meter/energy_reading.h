#pragma once
// From a meter's readings to joules: sums, counters that wrap, gaps, and how far the result may be off. No clock, no
// file: times come with the readings.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/meter/meter.h"

namespace perfcast {

// Codes: "counter-wrapped", "wraps-unsure", "gap", "blank-rows", "bad-rows", "times-out-of-order", "clock-ahead",
// "log-late", "devices-added", "number-form", "same-scope", "power-high", "readings-failed", "device-limited",
// "idle-higher", "thermal-throttle", "clock-drop", "clocks-capped".
struct EnergyWarning {
  std::string code, message;
};

struct MeterEnergy {
  MeterFacts meter;
  double seconds_s = 0;          // of the stretch that was measured
  std::optional<double> joules;  // all of it: idle power is not subtracted
  std::string why_missing;       // where there are no joules
  // Half width of what the readings leave open: their resolution and rate, what happened between them, gaps, and the
  // meter's accuracy where it is stated. A bound, not a deviation.
  std::optional<double> uncertainty_joules;
  std::optional<double> mean_w;
  std::optional<double> idle_w;             // where idle was measured before: see subtract_idle()
  std::optional<double> above_idle_joules;  // joules without those of idle; negative where idle drew more
  int64_t readings = 0;
  int64_t wraps = 0;  // of a counter
  double gap_s = 0;   // time for which no reading stands
  std::vector<EnergyWarning> warnings;
};

// Readings between two that are further apart than so many of the meter's intervals leave a gap.
inline constexpr double kGapIntervals = 3;
// With less of the stretch covered by readings there are no joules.
inline constexpr double kLeastCovered = 0.5;

// From the times between readings. The median; but who writes rows in bursts measures once a burst: then the time in
// which half of all time lies, where at least three are like it.
double usual_interval_s(std::vector<double> apart_s);

class EnergyAccumulator {
 public:
  explicit EnergyAccumulator(MeterFacts facts) : facts_(std::move(facts)) {}
  // In the order of time; `value` in joules of kEnergy, else watts. Powers may begin before and end behind the stretch.
  void add(double time_s, double value) { readings_.push_back({time_s, value}); }
  void fail(const Error& error);
  // Of the stretch from `begin_s` to `end_s`.
  MeterEnergy finish(double begin_s, double end_s) const;

 private:
  struct Reading {
    double time_s, value;
  };
  double usual_interval_s() const;
  void sum_counter(double begin_s, double end_s, MeterEnergy& result) const;
  void sum_power(double begin_s, double end_s, MeterEnergy& result) const;

  MeterFacts facts_;
  std::vector<Reading> readings_;
  int64_t failed_ = 0;
  std::string first_failure_;
};

// Joules above those that the machine draws idle, by a stretch of idle that the same meter measured.
void subtract_idle(const MeterEnergy& idle, MeterEnergy& energy);

}  // namespace perfcast
