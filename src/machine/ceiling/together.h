#pragma once
// Threads that begin at one moment, for what is measured on several CPUs at once.

#include <cstdint>
#include <functional>

namespace perfcast {

enum class ThreadPlaces : uint8_t {
  kAnywhere,
  kOneToACpu,  // as far as there are CPUs that this process may use; this thread's are as before afterwards
};

// work(0) to work(threads - 1), each in a thread of its own, the first in this one. Seconds from when the first begins,
// all standing ready, until the last is done; infinite where the system gives no so many threads. `threads` >= 1.
double seconds_together(int threads, const std::function<void(int)>& work,
                        ThreadPlaces places = ThreadPlaces::kAnywhere);

}  // namespace perfcast
