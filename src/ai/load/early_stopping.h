#pragma once
// How many queries a percentile needs, by the field's published rule: a run is a series of trials that are over the
// latency or not; with h queries within it and t over it, it is accepted when t or fewer would come about with a
// probability of at most 1 - confidence if the true share within the latency were the percentile p (no tolerance):
//   I_p(h, t + 1) <= 1 - confidence,   I the regularized incomplete beta function.
// At 99% confidence and t = 1 that takes 64 queries at p = 0.9, 662 at 0.99 and 6636 at 0.999.

#include <cstdint>
#include <optional>
#include <span>

namespace perfcast::ai {

inline constexpr double kEarlyStoppingConfidence = 0.99;

// The smallest h for `over` queries over the latency; 0 <= over, 0 < percentile < 1.
int64_t least_within(int64_t over, double percentile);

// The most queries over the latency that a run of `queries` may have to be accepted; none: it is too short even
// without any.
std::optional<int64_t> most_over(int64_t queries, double percentile);

// What a run with a latency to keep comes to.
struct EarlyStop {
  bool met = false;
  int64_t over = 0;     // queries over the latency
  int64_t missing = 0;  // further queries within the latency that would make it met
};
EarlyStop stop_within(int64_t queries, int64_t over, double percentile);

// What a run without such a latency may claim as its percentile: with the largest t >= 1 that is accepted, the largest
// latency left when the t - 1 largest are dropped. `sorted_ns` ascending. None: fewer queries than
// least_within(1, p) + 1.
struct EarlyEstimate {
  int64_t latency_ns = 0;
  int64_t dropped = 0;
};
std::optional<EarlyEstimate> early_estimate(std::span<const int64_t> sorted_ns, double percentile);
// 64 at 0.9, 662 at 0.99, 6636 at 0.999.
int64_t least_queries(double percentile);

}  // namespace perfcast::ai
