// Any bytes as a table of throughputs: no crash; what is read makes a trace that every simulator accepts.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fleet/traces/gavel_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::fleet;
  const auto table = parse_gavel_throughputs({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
  if (!table) return 0;
  if (table->steps_per_s.size() != table->types.size() * table->platforms.size()) std::abort();
  const auto trace = generate_gavel_trace(*table, {20, 4, 1, table->platforms.front()});
  if (trace && !check_workload(*trace)) std::abort();
  return 0;
}
