// Any table: no crash; what is read has counts and times above 0, or unknown ones.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ai/engine/vllm_points.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast::ai;
  const auto points = parse_vllm_points({reinterpret_cast<const char*>(data), size}, "input");
  if (!points) return 0;
  for (const VllmPoint& point : points->points) {
    for (const double time : {point.first_s, point.further_s, point.client_token_s}) {
      if (!std::isnan(time) && !(time > 0 && time < 1e8)) std::abort();
    }
    if (point.prompt_tokens < 1 || point.output_tokens < 1 || point.tensor_parallel < 1) std::abort();
  }
  if (single_streams(*points).size() > points->points.size()) std::abort();
  return 0;
}
