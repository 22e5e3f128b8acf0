// Checkpoints from outside: no input may crash the reader; what it accepts says the same when written again. The
// checksum is mended first, or nothing behind it would ever be reached.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/fuzz/mended_checksum.h"
#include "program/model/fit/fit_checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes = with_mended_checksum(data, size);
  const auto checkpoint = perfcast::program::training_checkpoint_from_bytes(bytes, "fuzz");
  if (!checkpoint) return 0;
  const auto again =
      perfcast::program::training_checkpoint_from_bytes(perfcast::to_bytes(checkpoint->checkpoint), "fuzz");
  if (!again || again->checkpoint.run != checkpoint->checkpoint.run ||
      again->checkpoint.parts != checkpoint->checkpoint.parts)
    std::abort();
  return 0;
}
