#pragma once
// A profiled CPU program on every platform of a bundle. On what is no CPU it has no forecast, and rows say so: its
// counters tell nothing of a program that would have to be written for that device.

#include <string>
#include <vector>

#include "base/result.h"
#include "place/workload/placement.h"
#include "profile/profile.h"
#include "program/forecast/forecast.h"
#include "program/model/forecast/forecaster.h"

namespace perfcast::place {

// Not finished: see finish_placement(). `devices`: those that get a row without a forecast. Measured times of the
// request are of platforms; errors are those of forecast_program().
Result<Placement> place_profile(const program::Forecaster& forecaster, const Profile& profile,
                                const program::ForecastRequest& request, const std::vector<DeviceFacts>& devices);

}  // namespace perfcast::place
