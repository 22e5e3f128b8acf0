#pragma once
// A service: replicas of one engine behind a router, and the requests of a trace.
//
// Open loop: requests come at their times; a client may hold them back while too many are under way. Closed loop: so
// many clients, each of which sends the next request of the trace when its last one has ended. Turns of a conversation
// come after the turn before them.
//
// A replica is one engine, or several:
//   - data_parallel engines that share their experts. Their steps begin together and take as long as the slowest, for
//     each layer needs all of them.
//   - a pipeline of stages, each with a part of the layers. As many steps are under way as there are stages; a step
//   goes
//     from stage to stage, each sequence is in one of the steps, and each step has its part of cache and sequences.
// With prefill_replicas, these compute prompts alone: a request gets its first token there, its keys go over a link,
// one request after the other, and a replica for answers goes on.

#include <cstdint>
#include <string_view>
#include <vector>

#include "ai/serving/batch_time.h"
#include "ai/serving/replica.h"
#include "ai/serving/serving_request.h"
#include "base/result.h"

namespace perfcast::ai {

enum class Router : uint8_t {
  kRoundRobin,
  kLeastLoaded,  // fewest requests that wait or run; of several the first
  kPrefixAware,  // most tokens of the prompt in the cache, unless its load is above the least by more than a half and 4
};
std::string_view name_of(Router router);
Result<Router> router_from(std::string_view name);

struct ServeOptions {
  EngineLimits limits;
  int64_t replicas = 1;
  Router router = Router::kLeastLoaded;
  int64_t concurrency = 0;  // clients of a closed loop; 0: open
  int64_t most_in_flight =
      0;  // of an open loop: further requests wait at their client, and are sent when one has ended
  FrontEndTime front_end;
  int64_t data_parallel = 1, pipeline_parallel = 1;  // not both above 1
  // Engines that share experts let prompts in together: one that has a prompt waits until all have, for so many steps
  // at the most. 0: each lets it in at once.
  int64_t balance_steps = 0;
  double hop_s = 0, hop_token_s = 0;  // from a stage to the next one: of a step, of each of its tokens
  int64_t prefill_replicas = 0;
  double transfer_s = 0, transfer_token_s = 0;  // of keys to a replica for answers: of a request, of each prompt token
  double idle_w = kUnknown;                     // of an engine between steps; its steps draw BatchTime::joules()
  double most_s = 0;                            // of simulated time, then what runs is cut off; 0: to the end

  // That have a cache and choose steps.
  int64_t engines() const { return (prefill_replicas + replicas) * data_parallel * pipeline_parallel; }
};

// How things stood at a time: at most ServeRun::kMostSamples of them, evenly over the run.
struct ServeSample {
  double at_s = 0;
  int64_t running = 0, waiting = 0;
  double cache_use = 0;  // mean over replicas
};

struct ServeRun {
  static constexpr size_t kMostSamples = 512;

  // In the trace's order, on the trace's clock. Of a closed loop, and of turns, `sent_s` is when it was sent.
  std::vector<RequestOutcome> outcomes;
  std::vector<double> sent_s;
  std::vector<ServeSample> samples;
  ReplicaCounts counts;  // of all replicas
  int64_t finished = 0, refused = 0;
  double end_s = 0;          // of the last step
  bool is_cut = false;       // at most_s
  int64_t cache_blocks = 0;  // of an engine
};

// `times` are those of a replica's step. Deterministic. "bad-usage".
Result<ServeRun> serve(const ServingTrace& trace, const ServeOptions& options, const BatchTime& times);

}  // namespace perfcast::ai
