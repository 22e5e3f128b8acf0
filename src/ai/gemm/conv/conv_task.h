#pragma once
// A rung of convolutions at one shape as a task.

#include <memory>
#include <span>
#include <vector>

#include "ai/gemm/conv/conv_shape.h"
#include "ai/gemm/run/task.h"

namespace perfcast::ai::gemm {

// op "conv": sizes as sizes_of(), rung a name of all_conv_rungs(). Errors: "unknown-task", "bad-usage".
Result<std::unique_ptr<Task>> make_conv_task(const TaskSpec& spec);

// The columns of x, k x n of product_of(shape), element by element from the definition: what results are checked
// against. Slow and plain on purpose, and nothing of columns.h.
std::vector<float> reference_columns(const ConvShape& shape, std::span<const float> x);

}  // namespace perfcast::ai::gemm
