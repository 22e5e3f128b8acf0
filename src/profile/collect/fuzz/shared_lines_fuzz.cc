// Any bytes in the place of what the plugin saw of shared lines: no crash; what is accepted joins with itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/collect/qemu/shared_lines.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const auto lines = parse_shared_lines({reinterpret_cast<const char*>(data), size}, "input");
  if (!lines) return 0;
  SharedLines twice = *lines;
  twice.add(*lines);
  if (twice.lines.size() != 2 * lines->lines.size()) std::abort();
  for (const SharedCacheLine& line : lines->lines) {
    if (line.users.size() > 4 || line.contended_count() > line.accesses_count()) std::abort();
  }
  return 0;
}
