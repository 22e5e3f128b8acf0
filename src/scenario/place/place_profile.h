#pragma once
// A profiled CPU program on every platform of a bundle. On what is no CPU it has no forecast, and rows say so: its
// counters tell nothing of a program that would have to be written for that device.

#include <string>
#include <vector>

#include "base/result.h"
#include "corpus/profile.h"
#include "model/forecast/forecaster.h"
#include "scenario/forecast/forecast.h"
#include "scenario/place/placement.h"

namespace perfcast {

// Not finished: see finish_placement(). `devices`: those that get a row without a forecast. Measured times of the
// request are of platforms; errors are those of forecast_program().
Result<Placement> place_profile(const Forecaster& forecaster, const Profile& profile, const ForecastRequest& request,
                                const std::vector<DeviceFacts>& devices);

}  // namespace perfcast
