// Any bytes: no crash; what is accepted lies within the limits that the header states.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/llm_forecast/calibration_runs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto runs = parse_calibration_runs({reinterpret_cast<const char*>(data), size}, "runs.csv");
  if (!runs) return 0;
  if (runs->empty()) std::abort();
  for (const CalibrationRun& run : *runs) {
    if (run.device.empty() || run.batch < 1 || run.m < 1 || run.k < 1 || run.n < 1) std::abort();
    if (!(run.latency_s > 0) || !(run.latency_s <= 3600) || info(run.precision).weights_only) std::abort();
  }
  return 0;
}
