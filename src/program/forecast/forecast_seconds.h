#pragma once
// From relative times to seconds: what they hang on, and how far they may be off.

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "program/explain/host_match.h"
#include "program/model/bundle/bundle.h"
#include "program/model/forecast/forecaster.h"

namespace perfcast::program {

// Seconds of a profile's native run that scale with the CPU.
struct HostTime {
  std::optional<double> seconds;
  std::string basis;               // "cpu" or "wall"; empty without seconds
  std::vector<std::string> notes;  // what to know about them
};
HostTime host_time_of(const Profile& profile);
// Of a program that was on a CPU for less than half of its time: it waits ("waits"), so its seconds are not what people
// wait for; or other programs held the CPUs ("no-cpu"), by the course of its run.
std::optional<ProfileWarning> waiting_warning(const Profile& profile);

struct ForecastSeconds {
  double log_of_one = 0;         // log seconds of relative time 1 against the mean
  Eigen::VectorXd lower, upper;  // log factors on the forecast seconds
};

// From the measured times where there are any, else from a model that says absolute times, else from the run on the
// host; none without any of them. `against_mean`: the
// forecast, conditioned on `measured`. Times hang on the mean of the log times that were measured, so on none of them
// more than on another.
std::optional<ForecastSeconds> seconds_of(const HostSpread& spread, const Forecast& against_mean,
                                          const std::vector<Measurement>& measured,
                                          const std::optional<HostMatch>& host,
                                          const std::optional<double>& host_time_s);

}  // namespace perfcast::program
