#pragma once
// The sets that are built; transformer_kernels.cc knows which of them this CPU can run.

#include "ai/transformer/kernel/transformer_kernels.h"

namespace perfcast::ai {

extern const TransformerKernels kTransformerScalar, kTransformerAvx2, kTransformerAvx512;

}  // namespace perfcast::ai
