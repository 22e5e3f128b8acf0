#pragma once
// A rung at one shape as a task: inputs from the seed, float64 verdict, guess of slow runs.

#include <memory>

#include "ai/gemm/run/task.h"
#include "ai/gemm/rung/rung.h"

namespace perfcast::ai::gemm {

// op "gemm": sizes {m, n, k}, rung a name of all_rungs(). Errors: "unknown-task", "bad-usage".
Result<std::unique_ptr<Task>> make_gemm_task(const TaskSpec& spec);

// Uniform in [-1, 1], never constant; the same for every rung of one seed and shape.
void fill_operands(uint64_t seed, std::span<float> a, std::span<float> b);

}  // namespace perfcast::ai::gemm
