#include "ai/transformer/kernel/transformer_kernels.h"

#include "ai/transformer/kernel/kernel_variants.h"
#include "machine/ceiling/cpu_isa.h"

namespace perfcast::ai {

const std::vector<const TransformerKernels*>& transformer_kernels() {
  static const std::vector<const TransformerKernels*> kKernels = [] {
    std::vector<const TransformerKernels*> kernels;
#if defined(__x86_64__)
    if (cpu_has("avx512") && cpu_has("avx512-vnni")) kernels.push_back(&kTransformerAvx512);
    if (cpu_has("avx2")) kernels.push_back(&kTransformerAvx2);
#endif
    kernels.push_back(&kTransformerScalar);
    return kernels;
  }();
  return kKernels;
}

}  // namespace perfcast::ai
