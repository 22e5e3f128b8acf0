#pragma once
// The load that guidellm 0.6 puts on a server, and how it counts what came back.
//
// No more requests are under way than it allows. It leaves out the first twentieth of the time and what has not ended
// at the end. At full throughput each client sends one request while clients come, one after the other, and its further
// ones after that; the servers of one provider had no such time.

#include <cstdint>
#include <string>

#include "ai/engine/vllm_points.h"
#include "ai/serving/serve.h"
#include "base/unknown.h"

namespace perfcast::ai::serving_study {

struct ClientLoad {
  PointStrategy strategy = PointStrategy::kThroughput;
  double rate_per_s = kUnknown;  // at a constant rate
  double most_concurrency = 1, seconds = 0;
  int64_t prompt_tokens = 0, output_tokens = 0;
  std::string provider = {};  // of the cloud
};

ServingTrace client_trace(const ClientLoad& load);

// What a load comes to; NaN: not known.
struct Delivered {
  double tokens_per_s = kUnknown, further_s = kUnknown, first_s = kUnknown, first_p95_s = kUnknown;
};

// As the client counts it; nothing where no request ended in time.
Delivered delivered_of(const ServeRun& run, const ClientLoad& load);

// What the client says where no request ended in time: the one that ended first, alone.
Delivered first_of(const ServeRun& run, const ClientLoad& load);

}  // namespace perfcast::ai::serving_study
