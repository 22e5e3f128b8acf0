#pragma once
// Tasks that measure the limits of the machine: peak loops and reading from memory.

#include <memory>

#include "ai/gemm/run/task.h"

namespace perfcast::ai::gemm {

// op "peak": rung "ISA/PRECISION" of peak_loops(), no sizes; all threads run the loop at once. work(): operations of
// one call, about 10 ms of them.
Result<std::unique_ptr<Task>> make_peak_task(const TaskSpec& spec);

// op "read": sizes {bytes}; all threads read their part of one array from end to end. work(): bytes of one call.
Result<std::unique_ptr<Task>> make_read_task(const TaskSpec& spec);

}  // namespace perfcast::ai::gemm
