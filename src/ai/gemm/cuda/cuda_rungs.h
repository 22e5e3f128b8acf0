#pragma once
// Rungs on an NVIDIA GPU, for the ladder of products. In builds without CUDA these are not there.

#include <memory>
#include <vector>

#include "ai/gemm/run/task.h"
#include "ai/gemm/rung/rung.h"

namespace perfcast::ai::gemm {

std::vector<Rung> cuda_rungs();  // naive, tiles, WMMA, cuBLAS; device "cuda"

// op "cuda-peak": rung "UNITS/PRECISION" of cuda_peaks(), no sizes. work(): operations of one call.
Result<std::unique_ptr<Task>> make_cuda_peak_task(const TaskSpec& spec);
// The peak loops of these precisions; none where missing_driver() has a reason.
std::vector<TaskSpec> cuda_peaks(const std::vector<Precision>& precisions);

}  // namespace perfcast::ai::gemm
