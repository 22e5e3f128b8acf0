// Any bytes in the place of a program: no crash, and what is accepted names a machine.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/process/program_inspector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto facts = perfcast::parse_elf({reinterpret_cast<const char*>(data), size}, "input");
  if (facts && facts->instruction_set.empty()) std::abort();
  (void)perfcast::sanitizer_of({reinterpret_cast<const char*>(data), size});
  return 0;
}
