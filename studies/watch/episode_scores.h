#pragma once
// Alarms beside the faults that they should have been of.

#include <cstddef>
#include <functional>
#include <vector>

#include "studies/watch/faults.h"

namespace perfcast::measure::watch_study {

// An alarm within a fault, or up to 2 minutes behind its end, found it; one up to 10 minutes behind its end belongs to
// it. Any other is false.
struct DetectionCounts {
  size_t faults[kFaultTypes][kMagnitudes] = {};
  size_t found[kFaultTypes][kMagnitudes] = {};
  std::vector<double> delays_s;  // of those found
  size_t alarms = 0, false_alarms = 0;
  double days = 0, clean_days = 0;  // clean: without the faults and what belongs to them

  void add(const DetectionCounts& other);
  double recall() const;  // of all
  double recall(size_t magnitude) const;
  double precision() const;             // alarms that are not false
  double false_alarms_per_day() const;  // clean day
};

DetectionCounts count_detections(const std::vector<InjectedFault>& faults, const std::vector<double>& alarms_s,
                                 double days);

// Alarms of plain scores: an episode begins above `level`, and ends when 60 rows in a row were below 60% of the way
// from `low` to it.
std::vector<double> alarms_of(const std::vector<double>& time_s, const std::vector<float>& scores, double low,
                              double level);

}  // namespace perfcast::measure::watch_study
