#include "measure/tune/run/tuning.h"

#include <algorithm>

namespace perfcast::measure {

size_t Tuning::failed_trials() const {
  return static_cast<size_t>(
      std::count_if(tried.begin(), tried.end(), [](const TriedPoint& point) { return !point.value; }));
}

double cost_of(double value, const Objective& objective) { return objective.maximise ? 1 / value : value; }

}  // namespace perfcast::measure
