#include "ai/transformer/kernel/kernel_variants.h"
#include "ai/transformer/kernel/kernels_body.h"

namespace perfcast::ai {

const TransformerKernels kTransformerAvx2 = {"avx2", product, byte_product, scale_sums, quantise, rms_norm,
                                             gate,   add,     rotate,       soften,     multiply, first_largest};

}  // namespace perfcast::ai
