#pragma once
// What else goes on on this machine.

#include <cstdint>
#include <string>

namespace perfcast::ai::gemm {

// CPU time since boot over all cores, in ticks; both 0 where it can't be read.
struct CpuTicks {
  uint64_t all = 0, stolen = 0;  // stolen: taken by the hypervisor for others
};
// `text`: of /proc/stat.
CpuTicks parse_cpu_ticks(const std::string& text);
CpuTicks cpu_ticks();
double steal_share(const CpuTicks& before, const CpuTicks& after);  // NaN where nothing is known

double load_average();            // of one minute; NaN where it can't be read
double available_memory();        // bytes that programs may still take; NaN where it can't be read
double last_level_cache_bytes();  // NaN where it can't be read

}  // namespace perfcast::ai::gemm
