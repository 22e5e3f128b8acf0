#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace perfcast {

Status parallel_for(size_t count, int threads, const std::function<Status(size_t)>& work) {
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex lock;
  size_t failed_at = count;
  std::optional<Error> failure;

  const auto call = [&work](size_t i) -> Status {
    try {
      return work(i);
    } catch (const std::bad_alloc&) {
      return environment_error("out-of-memory", "memory ran out", "", "more memory, or fewer threads");
    }
  };
  const auto run = [&]() noexcept {
    // Indices are given out in order and each one given out is finished: whatever lies below a failure is known.
    while (!failed) {
      const size_t i = next++;
      if (i >= count) return;
      if (Status status = call(i); !status) {
        failed = true;
        const std::lock_guard guard(lock);
        if (i < failed_at) {
          failed_at = i;
          failure = status.error();
        }
      }
    }
  };
  const size_t workers = std::min(count, static_cast<size_t>(std::max(threads, 1)));
  {
    std::vector<std::jthread> others;
    try {
      for (size_t t = 1; t < workers; ++t) others.emplace_back(run);
    } catch (const std::system_error&) {
      // No more threads to be had (a limit of processes): those that there are do the work.
    }
    run();
  }
  if (failure) return *failure;
  return {};
}

}  // namespace perfcast
