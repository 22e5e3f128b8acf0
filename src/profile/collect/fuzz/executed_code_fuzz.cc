// Any bytes in the place of the plugin's blocks: no crash; what is accepted has each block in one mapping at the most.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/collect/qemu/executed_code.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const auto code = parse_executed_code({reinterpret_cast<const char*>(data), size}, "input");
  if (!code) return 0;
  for (size_t i = 0; i < code->mappings.size(); ++i) {
    const ExecutedMapping& mapping = code->mappings[i];
    if (mapping.start >= mapping.end) std::abort();
    if (i > 0 && code->mappings[i - 1].end > mapping.start) std::abort();
    if (mapping_of(code->mappings, mapping.start) != &mapping) std::abort();
  }
  for (const ExecutedBlock& block : code->blocks) {
    if (block.bytes == 0 || block.before_count + block.since_end_count > block.executions_count) std::abort();
  }
  return 0;
}
