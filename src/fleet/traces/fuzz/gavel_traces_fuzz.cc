// Any bytes as a table of traces: no crash; what is read becomes a workload that every simulator accepts.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fleet/traces/gavel_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::fleet;
  const auto jobs = parse_gavel_traces({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
  if (!jobs) return 0;
  GavelThroughputs table;
  table.platforms = {"slow", "fast"};
  table.types = {{"A", 1}, {"B (batch size 4)", 2}};
  table.steps_per_s = {1, 2.5, kUnknown, 1e-3};
  const auto workload = gavel_workload(table, *jobs, "");
  if (workload && (workload->size() != jobs->size() || !check_workload(*workload))) std::abort();
  return 0;
}
