#pragma once
// What is left on the table of convolutions.

#include <vector>

#include "ai/gemm/gemm_result.h"

namespace perfcast::ai::gemm {

// From the ladder as measured, at the layer with the most operations: loop order, im2col against a direct convolution,
// the layout of images, precision, threads. Only what is clearly faster.
std::vector<Advice> conv_advice(const GemmResult& result);

}  // namespace perfcast::ai::gemm
