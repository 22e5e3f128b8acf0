// Any bytes in the place of designs, or of a process' trace: no crash, and a core gets to the end of what is accepted.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/core/simulate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  static const auto kShipped = read_core_designs(std::string(PERFCAST_SOURCE_DIR) + "/data/cores/designs.json");
  if (!kShipped) std::abort();
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  if (size > 0 && bytes.front() == '{') {
    (void)parse_core_designs(bytes, "input").ok();
    return 0;
  }
  const auto process = parse_process_trace(bytes, "input");
  if (!process) return 0;
  const auto decoded = decode_for_cores(*process);
  if (!decoded) std::abort();
  for (const CoreDesign& design : *kShipped) {
    const CoreResult result = simulate_core(*decoded, design);
    if (!std::isfinite(result.cycles) || result.cycles < 0) std::abort();
  }
  return 0;
}
