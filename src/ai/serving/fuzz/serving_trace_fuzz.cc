// Any text: no crash; what is read is a trace that a service takes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ai/serving/serve.h"
#include "ai/serving/serving_trace.h"

namespace {

class SteadyTime final : public perfcast::ai::BatchTime {
 public:
  double seconds(const perfcast::ai::StepBatch& batch) const override { return 1e-3 + 1e-6 * batch.tokens(); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast::ai;
  auto read = read_serving_trace({reinterpret_cast<const char*>(data), size}, "input");
  if (!read) return 0;
  if (read->trace.requests.empty() || read->form.empty()) std::abort();
  // Few steps: what is simulated is the trace's order, not its length.
  for (ServingRequest& request : read->trace.requests) {
    request.prompt_tokens = 1 + request.prompt_tokens % 2000;
    request.output_tokens = 1 + request.output_tokens % 20;
  }
  ServeOptions options;
  options.limits.cache_tokens = 2048;
  switch (size % 6) {  // one shape of service for each
    case 1:
      options.data_parallel = 3;
      break;
    case 2:
      options.pipeline_parallel = 3;
      break;
    case 3:
      options.prefill_replicas = 2;
      options.transfer_token_s = 1e-6;
      break;
    case 4:
      options.limits.draft_tokens = 3;
      options.limits.acceptance = 0.6;
      break;
    case 5:
      options.most_in_flight = 2;
      options.front_end.token_s = 1e-4;
      break;
    default:
      break;
  }
  const auto run = serve(read->trace, options, SteadyTime());
  if (!run) std::abort();
  if (run->finished + run->refused != static_cast<int64_t>(read->trace.requests.size())) std::abort();
  return 0;
}
