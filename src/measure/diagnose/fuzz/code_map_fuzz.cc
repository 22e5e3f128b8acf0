// Programs that are diagnosed come from anywhere: no file may crash what looks up functions and instructions in it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "measure/diagnose/observe/code_map.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const perfcast::measure::CodeSet set : {perfcast::measure::CodeSet::kX86, perfcast::measure::CodeSet::kArm})
    perfcast::measure::decode_instructions(set, bytes, 0x1000);
  const int file = memfd_create("code", MFD_CLOEXEC);
  if (file < 0) return 0;
  if (write(file, data, size) == static_cast<ssize_t>(size)) {
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    perfcast::measure::CodeMap code;
    for (const uint64_t offset : {uint64_t{0}, uint64_t{64}, uint64_t{size / 2}, uint64_t{0x1000}, ~uint64_t{0}}) {
      code.follows_call(path, offset);
      const perfcast::measure::CodePlace* const place = code.place(path, offset);
      if (place == nullptr) continue;
      code.instructions(path, place->address, 64);
      code.instructions(path, place->function_address, place->function_bytes);
    }
  }
  close(file);
  return 0;
}
