#pragma once
// Use case: loads on an engine whose steps were measured (measured_steps.h), simulated as forecast_serving() simulates
// named engines on devices.

#include "ai/serving/measured_steps.h"
#include "ai/serving/serving_forecast.h"

namespace perfcast::ai {

// What a request says of a model, an engine and devices, by `steps`: the result reads as that of one device.
void take_engine(const MeasuredSteps& steps, ServingRequestFor& request);

// Of the request: loads, limits that differ from those of `steps`, replicas, router, objectives; the rest as
// take_engine() makes it. Intervals are those of the steps that were checked. "bad-usage" names a field; "too-long"
// where no request fits the context; errors of `take`.
Result<ServingResult> forecast_measured(const MeasuredSteps& steps, ServingRequestFor request,
                                        const TakeRun& take = {});

}  // namespace perfcast::ai
