// Any bytes in the place of a program's file, and of machine code: no crash, no more pairs than bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "profile/collect/qemu/wider_code.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)wider_instructions_of_file(bytes);
  const WiderInstructions found = wider_instructions(bytes);
  if (found.avx512_count > size || found.vnni_count > size || found.amx_count > size) std::abort();
  return 0;
}
