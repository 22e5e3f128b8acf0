#pragma once
// The least number of replicas that is enough.

#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

struct ReplicaTrial {
  bool holds = false;
  bool is_hopeless = false;  // it doesn't hold, and no number of replicas does better
  // The load over what so many replicas served of it, where they fall behind; NaN: not known.
  double overload = kUnknown;
};
using TryReplicas = std::function<Result<ReplicaTrial>(int64_t replicas)>;

// In [1, most], given that more replicas never hold worse: from `first`, up or down in steps of `step` that double,
// until one number holds and one doesn't, then by halves. Above 100 replicas within 1%. None where `most` doesn't hold,
// or one is hopeless. Errors of `trial`.
Result<std::optional<int64_t>> least_replicas(const TryReplicas& trial, int64_t first, int64_t most, int64_t step = 1);

}  // namespace perfcast::ai
