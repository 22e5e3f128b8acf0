#pragma once
// What this client adds to the times that it measures: the same client against an endpoint of this machine that has no
// work to do (null_endpoint.h). It is an upper bound where the load is that of the run, for that endpoint's own delays
// and the loopback network are in it.

#include <cstdint>
#include <functional>

#include "ai/bench/bench_run.h"
#include "base/result.h"

namespace perfcast::ai {

struct OverheadRequest {
  double rate_per_s = 100;  // requests, at random times
  int64_t pieces = 16;      // of each answer
  double gap_s = 0.01;      // from one piece to the next
  double seconds_s = 1;     // how long requests come
  bool is_lighter = false;  // than the run that it stands for
  std::function<bool()> is_interrupted;
};

// Like a run: at its rate, so many pieces apart as its tokens are, as far as that can be measured within seconds.
OverheadRequest overhead_request_of(const BenchReport& report);

// What a run on such an endpoint has beyond its planned times.
ClientOverhead overhead_of(const LoadResult& result, double rate_per_s, int64_t pieces, double gap_s);

// Errors: "endpoint-failed", "overhead-failed" where an answer failed or the system broke.
Result<ClientOverhead> measure_overhead(const OverheadRequest& request);

}  // namespace perfcast::ai
