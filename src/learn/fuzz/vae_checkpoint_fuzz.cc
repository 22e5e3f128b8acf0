// Checkpoints from outside: no input may crash the reader; what it accepts comes back as the same bytes. The checksum
// is mended first, or nothing behind it would ever be reached.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/fuzz/mended_checksum.h"
#include "learn/neural/vae_checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes = with_mended_checksum(data, size);
  const auto state = perfcast::vae_training_state_from_bytes(bytes, "fuzz");
  if (state && perfcast::to_bytes(*state) != bytes) std::abort();
  return 0;
}
