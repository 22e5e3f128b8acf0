// Any bytes: no crash, no allocation beyond what the bytes account for; tensors that are accepted lie in the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/transformer/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto file = parse_safetensors({reinterpret_cast<const char*>(data), size}, size, "input");
  if (!file) return 0;
  for (const auto& [name, tensor] : file->tensors) {
    if (tensor.begin > tensor.end || tensor.end > size) std::abort();
  }
  return 0;
}
