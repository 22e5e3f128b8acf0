#include "workload/transformer/kernel/kernel_variants.h"
#include "workload/transformer/kernel/kernels_body.h"

namespace perfcast {

const TransformerKernels kTransformerAvx2 = {"avx2", product, byte_product, scale_sums, quantise, rms_norm,
                                             gate,   add,     rotate,       soften,     multiply, first_largest};

}  // namespace perfcast
