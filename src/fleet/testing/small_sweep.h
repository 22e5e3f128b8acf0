#pragma once
// Five policies under three errors of the forecasts, for tests.

#include "fleet/compare/error_sweep.h"

namespace perfcast::fleet {

inline ErrorSweep small_sweep() {
  ErrorSweep sweep;
  sweep.forecast_free = {"fcfs", "random"};
  for (const double error : {0.5, 0.0, 1.0}) {
    sweep.points.push_back({error, "fcfs", 1, 200, 50});
    sweep.points.push_back({error, "random", 1, 260, 40});
    sweep.points.push_back({error, "oracle", 1, 90, 10});
    sweep.points.push_back({error, "mct", 1, 100 + 160 * error, 20});  // 100, 180, 260
    sweep.points.push_back({error, "sjf", 1, 220 - 100 * error, 40 * error + 41});
  }
  return sweep;
}

}  // namespace perfcast::fleet
