// Any bytes as the Philly trace: no crash; what is accepted is a workload that begins at 0 s.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fleet/traces/philly_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::fleet;
  for (const bool clocks_go_back : {false, true}) {
    const auto trace =
        parse_philly_trace({reinterpret_cast<const char*>(data), size}, "input", {"any", clocks_go_back});
    if (trace && (!check_workload(*trace) || trace->jobs[0].arrival_s != 0)) std::abort();
  }
  return 0;
}
