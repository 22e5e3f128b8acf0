#pragma once
// One's own programs as jobs of a cluster: what a bundle forecasts of them on each of its CPU models and instance
// types.

#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/traces/job_mix.h"
#include "place/jobs/instance_groups.h"
#include "program/forecast/workload_forecast.h"
#include "program/model/forecast/forecaster.h"

namespace perfcast::place {

struct ProfileMixRequest {
  std::vector<program::WorkloadPart> parts;  // `runs`: share of the jobs, in proportion
  std::string host;                          // as ForecastRequest::host
};

// Jobs take the seconds of their profile's run on each group: of a CPU model those of the program by itself; of an
// instance type those among as many copies as its cores (or its memory) hold, so that jobs on a node that isn't full
// are forecast too long. Cores of a job: the threads that the program keeps busy, or would; it can't run where a node
// has fewer. Nobody measured these times: each sample draws true ones by the forecasts' errors, which CPU models share
// as far as they did on the training programs, and the programs of the mix altogether. `machines`: find_machines() of
// the cluster among the bundle's. Errors: forecast_in_full()'s with the program's name before, "unknown-host" where it
// has no seconds, "bad-usage" ("weights").
Result<fleet::ProgramMix> make_profile_mix(const program::Forecaster& forecaster, const fleet::Cluster& cluster,
                                           const std::vector<GroupMachine>& machines, const ProfileMixRequest& request);

}  // namespace perfcast::place
