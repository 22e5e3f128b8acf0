#include "program/corpus/importers/nvidia_gpus.h"

namespace perfcast::program {
namespace {

constexpr NvidiaGpu kGpus[] = {
    {"GTX-680", "kepler", 8, 1536, 1058, 192.256, 512},    {"Tesla-K20", "kepler", 13, 2496, 706, 208, 1280},
    {"Tesla-K40", "kepler", 15, 2880, 875, 288.384, 1536}, {"Titan", "kepler", 14, 2688, 876, 288.384, 1536},
    {"Quadro", "kepler", 12, 2304, 771, 192.256, 1024},  // K5200
    {"TitanX", "maxwell", 24, 3072, 1076, 336.48, 3072},   {"GTX-970", "maxwell", 13, 1664, 1178, 224.32, 1792},
    {"GTX-980", "maxwell", 16, 2048, 1216, 224.32, 2048},  {"Tesla-P100", "pascal", 56, 3584, 0, 732, 4096}};

}  // namespace

const NvidiaGpu* find_nvidia_gpu(std::string_view name) {
  for (const NvidiaGpu& gpu : kGpus) {
    if (gpu.name == name) return &gpu;
  }
  return nullptr;
}

std::map<std::string, double> facts_of(const NvidiaGpu& gpu) {
  std::map<std::string, double> facts = {{"sm_count", gpu.multiprocessors},
                                         {"core_count", gpu.cores},
                                         {"memory_bytes_per_s", gpu.memory_gb_per_s * 1e9},
                                         {"l2_bytes", gpu.l2_kib * 1024}};
  if (gpu.boost_mhz > 0) {
    facts["max_hz"] = gpu.boost_mhz * 1e6;
    facts["peak_flops_per_s"] = 2 * gpu.cores * gpu.boost_mhz * 1e6;
  }
  return facts;
}

}  // namespace perfcast::program
