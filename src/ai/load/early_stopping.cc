#include "ai/load/early_stopping.h"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>

namespace perfcast::ai {
namespace {

bool is_accepted(int64_t within, int64_t over, double percentile) {
  if (within < 1) return false;
  const double odds = boost::math::ibeta(static_cast<double>(within), static_cast<double>(over + 1), percentile);
  return odds < 1 - kEarlyStoppingConfidence;
}

}  // namespace

int64_t least_within(int64_t over, double percentile) {
  int64_t rejected = 0, accepted = 1;
  while (!is_accepted(accepted, over, percentile)) {
    rejected = accepted;
    accepted *= 2;
  }
  while (accepted - rejected > 1) {
    const int64_t middle = rejected + (accepted - rejected) / 2;
    (is_accepted(middle, over, percentile) ? accepted : rejected) = middle;
  }
  return accepted;
}

std::optional<int64_t> most_over(int64_t queries, double percentile) {
  const auto fits = [&](int64_t over) { return over <= queries && is_accepted(queries - over, over, percentile); };
  if (!fits(0)) return std::nullopt;
  int64_t accepted = 0, rejected = queries + 1;
  while (rejected - accepted > 1) {
    const int64_t middle = accepted + (rejected - accepted) / 2;
    (fits(middle) ? accepted : rejected) = middle;
  }
  return accepted;
}

EarlyStop stop_within(int64_t queries, int64_t over, double percentile) {
  EarlyStop stop;
  stop.over = over;
  const int64_t needed = least_within(over, percentile) + over;
  stop.met = queries >= needed;
  stop.missing = std::max<int64_t>(needed - queries, 0);
  return stop;
}

std::optional<EarlyEstimate> early_estimate(std::span<const int64_t> sorted_ns, double percentile) {
  const auto queries = static_cast<int64_t>(sorted_ns.size());
  const auto over = most_over(queries, percentile);
  if (!over || *over < 1) return std::nullopt;
  return EarlyEstimate{sorted_ns[static_cast<size_t>(queries - *over)], *over - 1};
}

int64_t least_queries(double percentile) { return least_within(1, percentile) + 1; }

}  // namespace perfcast::ai
