#pragma once
// Times of a copy of a program among many on whole servers, each program family left out of what is fitted: from the
// one-copy times that a model forecasts, by a scaling model that is made without the family too.

#include <Eigen/Core>
#include <vector>

#include "program/evaluate/one_copy_forecast.h"
#include "program/model/scaling/scaling_fit.h"
#include "program/model/scaling/scaling_model.h"

namespace perfcast::program {

// What a family's programs are forecast to take where the one-copy times of CPU models are known, for all families.
LeftOutForecast forecast_without_families(const ScalingFit& fit);

// Log seconds per unit of work, [programs x machines of the table]; NaN where nothing was measured, or the platform has
// no one-copy forecast. half_width: 90%, log, with what the one-copy times may be off by.
struct ServerForecast {
  Eigen::MatrixXd one_core, log_together, half_width;
  // Of each program: log seconds of relative time 1. All that is known of a program, as by a run on the machine at
  // hand: that of the mean over the servers. NaN where the program ran on none.
  Eigen::VectorXd level;
};

// Of each of `one_copy`. `errors`: of forecast_without_families(), with departures. A family's scaling is fitted once.
std::vector<ServerForecast> forecast_servers(const ScalingFit& fit, const ScalingErrors& errors, double coverage,
                                             const std::vector<OneCopyForecast>& one_copy);

}  // namespace perfcast::program
