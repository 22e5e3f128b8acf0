#pragma once
// The linear program behind the max-min policies.

#include <vector>

#include "base/result.h"
#include "fleet/policy/share_policies.h"

namespace perfcast::fleet {

inline constexpr double kLeastShare = 1e-9;

// A share as the solver gives it, freed of its rounding: 0 or 1 where it is within kLeastShare of them.
double clean_share(double value);

// Shares X [n x groups] that maximise the lowest rate_m = sum_g gain[m][g] X[m][g]; gain [n x groups] is 0 where a job
// can't run. Jobs with the same gains, units and resource get the same shares.
Result<std::vector<double>> max_min_shares(const ShareProblem& problem, const std::vector<double>& gain,
                                           LeftOver left_over);

}  // namespace perfcast::fleet
