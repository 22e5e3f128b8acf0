#pragma once
// Traces that are drawn: lengths about a mean, arrivals at a rate, conversations, prefixes that all share.

#include <cstdint>

#include "ai/serving/serving_request.h"

namespace perfcast::ai {

// Lengths are of lognormal distribution about their means, rounded, at least 1; spread 0: all alike.
struct TraceShape {
  int64_t requests = 1000;                           // at least 1; turns count
  double prompt_tokens = 1024, output_tokens = 128;  // means
  double log_spread = 0;                             // standard deviation of the logs
  double rate_per_s = 0;      // mean of arrivals, of conversations where there are turns; 0: at once
  double burst = 1;           // variance of a gap over that of a Poisson process: 1 is one, above it bursts, 0 is even
  int64_t turns = 1;          // of each conversation: a turn's prompt holds what was said before it
  double think_s = 0;         // from a turn's end to the next one
  int64_t shared_tokens = 0;  // that all prompts begin with, within prompt_tokens
  uint64_t seed = 1;
};
// Blocks of prefixes have 16 tokens, as the engine's have.
ServingTrace draw_trace(const TraceShape& shape);

// Arrivals of the trace's conversations at this rate (burst as above) in the place of its own.
void draw_arrivals(ServingTrace& trace, double rate_per_s, double burst, uint64_t seed);

}  // namespace perfcast::ai
