// Any bytes in the place of a cachegrind file: no crash; what is accepted has events.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/collect/cachegrind/cachegrind_collector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto totals = perfcast::parse_cachegrind({reinterpret_cast<const char*>(data), size}, "input");
  if (totals && totals->empty()) std::abort();
  return 0;
}
