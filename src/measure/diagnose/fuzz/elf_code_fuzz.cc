// Programs and libraries come from anywhere: no file may crash what looks up its code and functions.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "measure/diagnose/bloat/elf_code.h"
#include "measure/diagnose/bloat/without_libraries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::measure;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const ElfFunction& function : functions_of_unwinding(bytes, 0x1000)) {
    if (function.bytes == 0) std::abort();
  }
  variant_of(bytes);
  const auto changed = without_libraries(bytes, {"libc.so.6"}, "input");
  if (changed && changed->size() != size) std::abort();
  const int file = memfd_create("elf", MFD_CLOEXEC);
  if (file < 0) return 0;
  if (write(file, data, size) == static_cast<ssize_t>(size)) {
    const auto code = read_elf_code("/proc/self/fd/" + std::to_string(file));
    if (code) {
      uint64_t end = 0;
      for (const ElfFunction& function : code->functions) {
        if (function.address < end || code->piece_at(function.address) == nullptr) std::abort();
        end = function.address + function.bytes;
      }
      for (const ElfPiece& piece : code->sections) {
        if (piece.end() > size) std::abort();
      }
    }
  }
  close(file);
  return 0;
}
