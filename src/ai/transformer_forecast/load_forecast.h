#pragma once
// From the times of steps to those of requests: a queue of generation (ai/transformer/generation.h) followed step
// by step, on paper.

#include <functional>
#include <vector>

#include "ai/transformer_forecast/step_work.h"
#include "base/result.h"

namespace perfcast::ai {

// Requests that are alike but for when they come.
struct LoadShape {
  std::vector<double> due_s;  // ascending, the first at 0 or later
  int64_t slots = 1, prompt_tokens = 1, new_tokens = 1;
};

struct LoadTimes {
  // Means of requests, from when each was due; per output token: NaN where there is but one.
  double ttft_s = 0, tpot_s = 0;
  double tokens_per_s = 0;  // of all until the last one
};

// Seconds of a step. A token's context is the mean of those that go through the step, in steps of 8.
using StepSeconds = std::function<Result<double>(const StepPoint& point)>;

// "bad-usage" for no requests, no slots, no tokens; errors of `step_s`, which is asked for each point once.
Result<LoadTimes> times_of_load(const LoadShape& shape, const StepSeconds& step_s);

}  // namespace perfcast::ai
