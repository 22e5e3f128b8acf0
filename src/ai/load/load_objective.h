#pragma once
// What a service promises, and what share of its requests kept it: several promises may be asked of one run. Goodput
// is the rate of the requests that kept all limits of a promise.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ai/load/load_result.h"
#include "base/result.h"

namespace perfcast::ai {

struct LoadObjective {
  std::string text;                                 // as it was given
  std::optional<double> latency_s, ttft_s, tpot_s;  // at the most
  double share = 0.99;                              // of the requests, at least
};

// "ttft=2s,tpot=200ms", "latency=15ms,share=99.9%". "bad-usage".
Result<LoadObjective> parse_load_objective(std::string_view text, const std::string& where);

struct ObjectiveOutcome {
  LoadObjective objective;
  int64_t kept = 0, requests = 0;  // requests: all that were issued, answered or not
  double kept_share = 0;
  bool met = false;
  double goodput_per_s = 0;  // of the answered samples per second those that kept it
};

// A request without an answer, a first token or a second token keeps no limit that asks for it. `samples_per_s`:
// of LoadSummary.
ObjectiveOutcome judge_load_objective(const LoadObjective& objective, const LoadResult& result, double samples_per_s);

}  // namespace perfcast::ai
