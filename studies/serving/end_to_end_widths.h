#pragma once
// Widths of 90% intervals of simulated deployments, by groups of measured ones.

#include <string>
#include <vector>

#include "ai/engine/engine_profile.h"
#include "base/result.h"
#include "studies/serving/end_to_end_service.h"

namespace perfcast::ai::serving_study {

// One of the two times, as points and simulations have it.
struct EndToEndFigure {
  double EndToEndPoint::*measured;
  double SimulatedTimes::*simulated;
};
inline constexpr EndToEndFigure kFurtherToken = {&EndToEndPoint::further_s, &SimulatedTimes::further_s},
                                kFirstToken = {&EndToEndPoint::first_s, &SimulatedTimes::first_s};

// By a profile: the forecast, and with steps and front end at both ends of its 90% interval. Of each service, in order.
struct EndToEndRange {
  std::vector<SimulatedTimes> forecast, lower, upper;
};
Result<EndToEndRange> range_of(const EngineProfile& profile, const std::vector<EndToEndService>& services, int threads);

// How far a measured time is from the forecast, in logs: so many times as far as the interval's end on its side; at
// most 3.
double distance_ratio(double measured, double forecast, double lower, double upper);

struct GroupedRatio {
  std::string group;
  double ratio = 0;
};
// By what the logs of ends are multiplied, so that the intervals hold 90%. Groups weigh the same, 1; half a group says
// that the ends are right as they are (normal errors): few groups alone would say it too surely. Between 0 and 3; 1
// without any.
double width_ratio(const std::vector<GroupedRatio>& ratios);

}  // namespace perfcast::ai::serving_study
