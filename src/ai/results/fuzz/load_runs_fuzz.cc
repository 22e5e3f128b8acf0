// Any bytes as results of load tests: no crash; what is accepted has figures, all of them finite and above 0 or absent.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/results/load_run_report.h"
#include "base/json.h"

namespace {

void check_times(const perfcast::ai::RunTimes& times) {
  for (const auto& value : {times.mean_s, times.p50_s, times.p90_s, times.p95_s, times.p99_s}) {
    if (value && !(std::isfinite(*value) && *value > 0)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  auto runs = read_load_runs({reinterpret_cast<const char*>(data), size}, "input");
  if (!runs) return 0;
  if (runs->empty()) std::abort();
  for (const LoadRun& run : *runs) {
    for (const RunTimes* times : {&run.latency, &run.ttft, &run.tpot, &run.gap, &run.lateness}) check_times(*times);
  }
  const LoadRunsReport report{*std::move(runs), {}};
  if (load_runs_text(report).empty() || to_text(load_runs_json(report)).empty()) std::abort();
  return 0;
}
