#pragma once
// How well the throughput of whole servers is forecast for applications that run a thread on every vCPU: from the time
// of one thread, each application left out in turn.

#include <vector>

#include "base/result.h"
#include "program/corpus/all_cores.h"
#include "program/evaluate/scaling_evaluation.h"

namespace perfcast::program {

// Rows of the group kAllCoresGroup: throughputs are of the whole server. Empty where no server has families enough.
inline constexpr const char* kAllCoresGroup = "application, all cores";
std::vector<ScalingRow> evaluate_all_cores(const std::vector<AllCoresRun>& runs);

}  // namespace perfcast::program
