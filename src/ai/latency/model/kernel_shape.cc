#include "ai/latency/model/kernel_shape.h"

#include <array>

namespace perfcast::ai {

std::string_view name_of(KernelKind kind) {
  constexpr std::array<std::string_view, kKernelKinds> kNames = {"products", "attention of prompts",
                                                                 "attention of tokens", "experts"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view name_of(KernelFormat format) {
  constexpr std::array<std::string_view, kKernelFormats> kNames = {"half", "fp8", "fp8 in blocks", "fp4"};
  return kNames[static_cast<size_t>(format)];
}

}  // namespace perfcast::ai
