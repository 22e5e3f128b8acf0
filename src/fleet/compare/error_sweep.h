#pragma once
// How good a forecast must be to pay: policies as the error of the forecasts grows.

#include <cstdint>
#include <string>
#include <vector>

#include "base/unknown.h"

namespace perfcast::fleet {

struct SweepPoint {
  double error_ratio = 0;  // of the forecasts, 0: exact, 1: 100%
  std::string policy;
  uint64_t seed = 1;
  double makespan_s = kUnknown, mean_completion_s = kUnknown;
};

struct ErrorSweep {
  std::vector<SweepPoint> points;
  std::vector<std::string> forecast_free;  // policies that know no forecast; the oracle is neither
};

// Medians over the seeds, in order of error.
struct SweepLine {
  enum class Kind { kForecast, kForecastFree, kOracle };
  std::string policy;
  Kind kind = Kind::kForecast;
  std::vector<double> error_ratio, makespan_s, mean_completion_s;
};
std::vector<SweepLine> sweep_lines(const ErrorSweep& sweep);

// From which error on a policy is no better than the best forecast-free one (of the lowest median over all errors),
// linearly between the points, where it first crosses.
struct BreakEven {
  enum class Verdict { kCrosses, kAlwaysPays, kNeverPays, kNothingToCompare };
  std::string policy, baseline;
  Verdict verdict = Verdict::kNothingToCompare;
  double error_ratio = kUnknown;  // only where it crosses
};
enum class SweepMetric { kMakespan, kMeanCompletion };
// One for each policy that uses forecasts.
std::vector<BreakEven> break_evens(const ErrorSweep& sweep, SweepMetric metric);

const std::vector<double>& values_of(const SweepLine& line, SweepMetric metric);

}  // namespace perfcast::fleet
