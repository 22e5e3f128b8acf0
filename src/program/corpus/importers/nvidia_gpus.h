#pragma once
// What NVIDIA's data sheets say of the GPUs that published counter sets name in short.

#include <map>
#include <string>
#include <string_view>

namespace perfcast::program {

struct NvidiaGpu {
  std::string_view name;          // as the sets write it: "GTX-680"
  std::string_view architecture;  // "kepler", "maxwell", "pascal"
  int multiprocessors, cores;
  double boost_mhz;  // 0: differs between boards of that name
  double memory_gb_per_s;
  double l2_kib;
};

// Null where the name is not known.
const NvidiaGpu* find_nvidia_gpu(std::string_view name);

// sm_count, core_count, max_hz, memory_bytes_per_s, l2_bytes, peak_flops_per_s (single precision: 2 per core and
// cycle).
std::map<std::string, double> facts_of(const NvidiaGpu& gpu);

}  // namespace perfcast::program
