// Checkpoints from outside: no input may crash the reader; what it accepts says the same when written again. The
// checksum is mended first, or nothing behind it would ever be reached.

#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "model/fit_checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.size() > 4) {
    const size_t content = bytes.size() - 4;
    const auto sum = static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), content));
    std::memcpy(bytes.data() + content, &sum, 4);
  }
  const auto checkpoint = perfcast::training_checkpoint_from_bytes(bytes, "fuzz");
  if (!checkpoint) return 0;
  const auto again = perfcast::training_checkpoint_from_bytes(perfcast::to_bytes(*checkpoint), "fuzz");
  if (!again || again->run != checkpoint->run || again->parts != checkpoint->parts) std::abort();
  return 0;
}
