#pragma once
// Use case: which machine for several programs that run on it in known proportions.

#include <vector>

#include "profile/profile.h"
#include "program/forecast/forecast.h"

namespace perfcast::program {

struct WorkloadPart {
  Profile profile;
  double runs = 1;  // of this program in one round of the workload, > 0
};

// As forecast_program() for one program, of a round: `runs` of each program, one after the other, or as many copies
// side by side as an instance holds. What is added up is seconds, so each profile's host must be known. Intervals take
// the programs to err alike on a platform, which is on the safe side: errors that differ would partly cancel.
// Explanations are those of single programs: absent here. `request.measured_s` must be empty: it is of one program.
// Errors: those of forecast_program(), with the program's name before the message; "bad-usage" for no part, runs that
// are not above 0 and measured times; "unknown-host" where a program has no seconds.
Result<ForecastReport> forecast_workload(const Forecaster& forecaster, const std::vector<WorkloadPart>& parts,
                                         const ForecastRequest& request);

}  // namespace perfcast::program
