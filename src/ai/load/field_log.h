#pragma once
// A run's results in the words of the field's load generator: keys of its detail log, lines of its summary.

#include <string>
#include <utility>
#include <vector>

#include "ai/load/load_result.h"
#include "ai/load/load_summary.h"
#include "ai/load/load_verdict.h"
#include "base/json_fwd.h"

namespace perfcast::ai {

std::vector<std::pair<std::string, Json>> field_points(const LoadResult& result, const LoadSummary& summary,
                                                       const LoadVerdict& verdict);

std::string field_summary(const LoadResult& result, const LoadSummary& summary, const LoadVerdict& verdict,
                          const LoadRules& rules);

}  // namespace perfcast::ai
