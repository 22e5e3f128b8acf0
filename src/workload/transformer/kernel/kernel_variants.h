#pragma once
// The sets that are built; transformer_kernels.cc knows which of them this CPU can run.

#include "workload/transformer/kernel/transformer_kernels.h"

namespace perfcast {

extern const TransformerKernels kTransformerScalar, kTransformerAvx2, kTransformerAvx512;

}  // namespace perfcast
