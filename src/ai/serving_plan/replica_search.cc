#include "ai/serving_plan/replica_search.h"

#include <algorithm>
#include <cmath>

namespace perfcast::ai {
namespace {

constexpr int64_t kFineness = 100;  // a step of one is 1% of so many
constexpr double kMostOverload = 64;

}  // namespace

Result<std::optional<int64_t>> least_replicas(const TryReplicas& trial, int64_t first, int64_t most, int64_t step) {
  int64_t fails = 0, holds = most + 1;  // the largest that is known to fail, the smallest that is known to hold
  int64_t at = std::clamp<int64_t>(first, 1, most);
  for (;;) {
    const auto tried = trial(at);
    if (!tried) return tried.error();
    if (tried->is_hopeless) return std::optional<int64_t>();
    (tried->holds ? holds : fails) = at;
    if (holds - fails <= 1) break;
    if (holds <= most && fails > 0) {
      if (holds - fails <= holds / kFineness) break;
      at = fails + (holds - fails) / 2;
    } else if (fails == 0) {
      at = std::max<int64_t>(1, holds - step);
      step *= 2;
    } else {
      // As many times more as the load is too large.
      int64_t next = fails + step;
      if (tried->overload > 1) {
        const double times = std::min(tried->overload, kMostOverload);
        next = std::max(next, static_cast<int64_t>(std::ceil(times * static_cast<double>(fails))));
      }
      at = std::min(next, most);
      step *= 2;
    }
  }
  return holds <= most ? std::optional(holds) : std::nullopt;
}

}  // namespace perfcast::ai
