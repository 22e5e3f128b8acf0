// Any bytes as a file of measured steps: no crash; what is accepted gives every step a time, and reads back the same.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/serving/measured_steps.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto steps = parse_measured_steps({reinterpret_cast<const char*>(data), size}, "input");
  if (!steps) return 0;
  const auto again = parse_measured_steps(to_text(to_json(*steps)), "again");
  if (!again || to_json(*again) != to_json(*steps)) std::abort();
  const MeasuredStepTime times(*steps);
  for (const int64_t decodes : {0, 1, 300}) {
    for (const double tokens : {0.0, 1.0, 5000.0}) {
      const double seconds = times.seconds({.decodes = decodes,
                                            .decode_context_tokens = 100,
                                            .prefills = tokens > 0 ? 1 : 0,
                                            .prefill_tokens = tokens,
                                            .prefill_pairs = tokens * tokens});
      if (!(seconds > 0) || !std::isfinite(seconds)) std::abort();
    }
  }
  return 0;
}
