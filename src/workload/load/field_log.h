#pragma once
// A run's results in the words of the field's load generator: keys of its detail log, lines of its summary.

#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "workload/load/load_result.h"
#include "workload/load/load_summary.h"
#include "workload/load/load_verdict.h"

namespace perfcast {

std::vector<std::pair<std::string, Json>> field_points(const LoadResult& result, const LoadSummary& summary,
                                                       const LoadVerdict& verdict);

std::string field_summary(const LoadResult& result, const LoadSummary& summary, const LoadVerdict& verdict,
                          const LoadRules& rules);

}  // namespace perfcast
