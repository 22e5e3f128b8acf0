#pragma once
// Checks of a request, and the demand as samples and as flows. Internal to capacity planning.

#include <vector>

#include "fleet/capacity/capacity.h"

namespace perfcast::fleet {

Status check_request(const CapacityRequest& request);

// One sample for each seed: "bad-demand", with what is wrong with it; check_workload's errors, "missing-platform".
Result<std::vector<Workload>> draw_samples(const CapacityRequest& request, double rate_factor);

// What today's samples come to as flows, without a limit of the cost per hour: "no-candidate-fits", check_objectives'
// errors.
Result<SizingInput> sizing_input(const CapacityRequest& request, const std::vector<Workload>& samples);

}  // namespace perfcast::fleet
