// Any bytes: no crash; names are plain and prices and cores above 0.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fleet/slurm/partitions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::fleet;
  const auto partitions = parse_partitions({reinterpret_cast<const char*>(data), size}, "input");
  if (!partitions) return 0;
  if (partitions->empty()) std::abort();
  for (const SlurmPartition& partition : *partitions) {
    if (!is_plain_name(partition.name) || partition.platform.empty()) std::abort();
    if ((partition.price_per_hour && !(*partition.price_per_hour > 0)) || (partition.cores && *partition.cores < 1) ||
        (partition.memory_bytes && !(*partition.memory_bytes > 0))) {
      std::abort();
    }
  }
  return 0;
}
