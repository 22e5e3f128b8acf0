#include "machine/ceiling/together.h"

#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <limits>
#include <system_error>
#include <thread>
#include <vector>

namespace perfcast {
namespace {

// The CPUs that this thread may use, but for as long as this lives.
class CpusOfThread {
 public:
  explicit CpusOfThread(ThreadPlaces places)
      : are_set_(places == ThreadPlaces::kOneToACpu && sched_getaffinity(0, sizeof before_, &before_) == 0) {
    for (int cpu = 0; are_set_ && cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) allowed_.push_back(cpu);
    }
  }
  ~CpusOfThread() {
    if (are_set_) sched_setaffinity(0, sizeof before_, &before_);
  }
  CpusOfThread(const CpusOfThread&) = delete;
  CpusOfThread& operator=(const CpusOfThread&) = delete;

  // This thread to one of them.
  void take(int number) const {
    if (allowed_.empty()) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(allowed_[static_cast<size_t>(number) % allowed_.size()], &one);
    sched_setaffinity(0, sizeof one, &one);
  }

 private:
  cpu_set_t before_{};
  bool are_set_;
  std::vector<int> allowed_;
};

}  // namespace

double seconds_together(int threads, const std::function<void(int)>& work, ThreadPlaces places) {
  using Clock = std::chrono::steady_clock;
  const CpusOfThread cpus(places);
  std::barrier ready(threads);
  std::vector<Clock::time_point> starts(static_cast<size_t>(threads)), ends(starts.size());
  const auto one = [&](int thread) {
    cpus.take(thread);
    ready.arrive_and_wait();
    starts[static_cast<size_t>(thread)] = Clock::now();
    work(thread);
    ends[static_cast<size_t>(thread)] = Clock::now();
  };
  {
    std::vector<std::jthread> others;
    others.reserve(static_cast<size_t>(threads));
    try {
      for (int thread = 1; thread < threads; ++thread) others.emplace_back(one, thread);
    } catch (const std::system_error&) {
      // Those that wait for the missing ones, and for this one, go on.
      for (size_t missing = others.size(); missing < static_cast<size_t>(threads); ++missing) ready.arrive_and_drop();
      return std::numeric_limits<double>::infinity();
    }
    one(0);
  }
  return std::chrono::duration<double>(*std::max_element(ends.begin(), ends.end()) -
                                       *std::min_element(starts.begin(), starts.end()))
      .count();
}

}  // namespace perfcast
