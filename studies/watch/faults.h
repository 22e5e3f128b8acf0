#pragma once
// Faults that are put into a recorded stream, each in three magnitudes.

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "base/random.h"
#include "studies/watch/recorded_server.h"

namespace perfcast::measure::watch_study {

enum class FaultType {
  kSpike,             // one counter x 1.5 / 3 / 10 for two samples
  kLevelShift,        // LLC load misses x 1.15 / 1.3 / 2
  kPowerDrift,        // power rises to + 5 / 10 / 20% within 10 minutes and stays for 10
  kStuckSensor,       // power or a counter keeps its value for 2 / 5 / 10 minutes
  kCorrelationBreak,  // instructions x .85 / .7 / .5; power and all else stay
  kNoisyNeighbour,    // instructions, branches, L1 accesses x .9 / .8 / .6 at the same cycles; LLC load misses x 1.1
                      // / 1.25 / 1.5
  kIoStall,  // waiting for I/O + 10 / 25 / 50 points; user time, cycles, instructions x .9 / .75 / .5, disk bytes x .7
             // / .4 / .1
  kMissingMetric,  // one metric is absent for 2 / 5 / 10 minutes
};
inline constexpr size_t kFaultTypes = 8;
inline constexpr size_t kMagnitudes = 3;
const char* to_text(FaultType type);

struct InjectedFault {
  FaultType type = FaultType::kSpike;
  size_t magnitude = 0;
  double from_s = 0, to_s = 0;
  std::string metric;  // empty: several
};

// One fault an hour, every type and magnitude once a day in a drawn order, each beginning 10 to 35 minutes into its
// hour.
std::vector<InjectedFault> inject_faults(const std::vector<std::string>& columns, double interval_s,
                                         MetricStream& stream, Random& random);

}  // namespace perfcast::measure::watch_study
