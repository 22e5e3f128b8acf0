#pragma once
// Streams of metrics that are made up, with a daily season, with faults and without.

#include <cstdint>
#include <vector>

#include "studies/watch/recorded_server.h"

namespace perfcast::measure::watch_study {

struct GeneratedFault {
  double from_s = 0, to_s = 0;
};

struct GeneratedStream {
  size_t columns = 0;
  MetricStream stream;
  std::vector<GeneratedFault> faults;
};

inline constexpr double kGeneratedInterval_s = 60;

// 5 metrics that follow a load with a daily season, each with 3% of noise; three faults in the last 70%, in a drawn
// order: one metric half as high again for 2 h; one metric that no longer follows the load, for 4 h; one metric that
// rises to twice its value within 6 h.
GeneratedStream generate_with_faults(uint64_t seed, size_t rows);

enum class Faultless { kLoad, kNoise, kWandering, kBursts, kCounts, kSpikes };
inline constexpr size_t kFaultlessKinds = 6;
const char* to_text(Faultless kind);
// Of one kind, where nothing happens: 5 metrics of a load (kLoad), or one metric: noise; noise that wanders with a
// memory of an hour; lognormal bursts; counts of rare events; rare spikes.
GeneratedStream generate_faultless(Faultless kind, uint64_t seed, size_t rows);

}  // namespace perfcast::measure::watch_study
