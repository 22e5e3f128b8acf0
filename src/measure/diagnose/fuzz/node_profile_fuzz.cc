// Profiles that node writes: no bytes may crash their reader.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "measure/diagnose/observe/node_profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto lines =
      perfcast::measure::read_node_profile(std::string_view(reinterpret_cast<const char*>(data), size), "input");
  if (lines && lines->size() > size) __builtin_trap();
  return 0;
}
