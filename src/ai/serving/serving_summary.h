#pragma once
// What a simulated service delivered: percentiles over its requests, shares that kept their promises, and whether it
// keeps up with its load.

#include <cstdint>
#include <vector>

#include "ai/load/load_objective.h"
#include "ai/serving/serve.h"
#include "base/unknown.h"

namespace perfcast::ai {

struct Percentiles {
  double mean, p50, p90, p95, p99;  // NaN without any
};
Percentiles percentiles_of(std::vector<double> values);

// Of an open loop, over the second half of the arrivals.
enum class Pace : uint8_t {
  kNotAsked,  // a closed loop waits for the service
  kKeepsUp,
  kFallsBehind,  // more and more requests wait
  kTooShort,     // more and more run, and the arrivals end before a service that keeps up would have filled
};

struct ServingSummary {
  int64_t requests = 0, finished = 0, refused = 0, unfinished = 0;
  double seconds = 0;  // from the first request to the last token
  double requests_per_s = 0, output_tokens_per_s = 0, prompt_tokens_per_s = 0;  // of finished requests
  double offered_per_s = 0;  // requests sent, of an open loop; NaN of a closed one
  // Seconds, of finished requests. To the first token from when it was sent; a further token is (last - first) over
  // (output - 1), of requests with two tokens or more; queued: from the front end to the first step; gaps: between two
  // tokens of any request.
  Percentiles first_token, further_token, whole, queued;
  double gap_p50_s = 0, gap_p95_s = 0, gap_p99_s = 0;
  double mean_running = 0, busy_share = 0;  // of an engine, while it works; of all engines, over all the time
  double mean_cache_use = 0, most_cache_use = 0, cached_prompt_share = 0;
  int64_t preemptions = 0, most_waiting = 0;
  // Of all devices, from the first request to the last token; NaN: not known.
  double energy_j = kUnknown, power_w = kUnknown;
  double energy_per_request_j = kUnknown, energy_per_token_j = kUnknown;  // finished ones, tokens of output
  Pace pace = Pace::kNotAsked;
  double growth_per_s = 0;  // of requests that wait or run, where it falls behind
  std::vector<ObjectiveOutcome> objectives;
};

// Of objectives as LoadObjective has it: a request that was refused or isn't finished keeps none.
ServingSummary summarise(const ServingTrace& trace, const ServeOptions& options, const ServeRun& run,
                         const std::vector<LoadObjective>& objectives);

// The end of an interval whose log over the forecast is `ratio` times that of `end`. `end` itself where either isn't
// above 0.
double moved_end(double forecast, double end, double ratio);
// Times of the first token by first_ratio; of further tokens, gaps and requests, and rates, by token_ratio.
void move_ends(const ServingSummary& forecast, double token_ratio, double first_ratio, ServingSummary& end);

}  // namespace perfcast::ai
