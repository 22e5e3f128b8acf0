#pragma once
// Constants of an engine from its measured deployments: each is simulated again and again.

#include <string>
#include <vector>

#include "ai/engine/engine_profile.h"
#include "base/result.h"
#include "studies/serving/end_to_end_service.h"

namespace perfcast::ai::serving_study {

// A constant with its log-normal prior: the centre is what it was at the start, or `usual` where that is 0.
struct FreeConstant {
  double EngineConstants::*member;
  double usual = 0, log_sd = 1;
};

// The constants that bring simulated times of services with `use` nearest to measured ones: the sum of Huber losses of
// log errors of both times (threshold 0.2, scale 0.1), each group weighing the same with at most 24 of its
// points, evenly over them, and the priors. Deterministic. Errors of simulations and of fit_bounded().
Result<EngineProfile> fit_end_to_end(const EngineProfile& start, const std::vector<FreeConstant>& free,
                                     const std::vector<EndToEndService>& services, const std::vector<bool>& use,
                                     int threads);

// Of each service, in order.
Result<std::vector<SimulatedTimes>> simulate_all(const EngineProfile& profile,
                                                 const std::vector<EndToEndService>& services,
                                                 const std::vector<bool>& use, int threads, double half_widths = 0);

}  // namespace perfcast::ai::serving_study
