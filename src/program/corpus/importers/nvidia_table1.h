#pragma once
// Counters of Table I (Nichols, Yeom and Bhatele) that follow from what NVIDIA's profilers say of a kernel. They belong
// to the program: they are the same on every GPU, and by every profiler.

#include "profile/profile.h"

namespace perfcast::program {

// Adds, where the profiler's classes of instructions are all there: instructions per launch, and the shares of integer,
// floating-point, memory and control instructions; where grid and block are: threads and warps. Conversions and
// exchanges between threads aren't in the sum, since the published set lacks them. What is there already stays.
void add_table1(MetricValues& metrics);

}  // namespace perfcast::program
