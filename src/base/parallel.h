#pragma once
// One loop on several threads.

#include <cstddef>
#include <functional>

#include "base/result.h"

namespace perfcast {

// Calls work(i) once for every i in [0, count), on min(threads, count) threads, the caller's among them; threads < 1
// counts as 1. Order is open; what work(i) writes must be its own. After a failure no further i is begun, and the error
// of the lowest i that failed comes back, so that the threads don't choose it. Running out of memory in work() is
// "out-of-memory"; other exceptions are bugs and end the program.
Status parallel_for(size_t count, int threads, const std::function<Status(size_t)>& work);

}  // namespace perfcast
