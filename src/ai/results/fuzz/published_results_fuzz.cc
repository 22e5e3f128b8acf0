// Any bytes as tables of results and as a query: no crash; what is accepted has numbers above zero or none.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/results/accelerator_names.h"
#include "ai/results/inference_results.h"
#include "ai/results/training_results.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto results = parse_inference_results(text, "input")) {
    for (const PublishedResult& result : *results) {
      if (result_rate_per_s(result) <= 0 || result.power_w <= 0 || result.accelerators() < 1) std::abort();
      const ResultAccelerator accelerator = result_accelerator(result, {});
      if (accelerator.count < 1 || !(accelerator.compute_share > 0 && accelerator.compute_share <= 1)) std::abort();
    }
  }
  if (const auto results = parse_training_results(text, "input")) {
    for (const PublishedResult& result : results->results) {
      if (!(result.training_s > 0) || result.runs < 1) std::abort();
    }
  }
  return 0;
}
