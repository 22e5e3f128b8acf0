#pragma once
// Threads that stay, for loops of microseconds: a step of a transformer is a few hundred of them.

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace perfcast::ai {

// Not for several callers at once. Threads spin for a moment after each loop before they sleep.
class ThreadTeam {
 public:
  // `threads` >= 1, the caller's among them; fewer where the system gives no more.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int threads() const { return static_cast<int>(others_.size()) + 1; }

  // work(item, thread) for every item in [0, items), thread in [0, threads()); returns when all have ended. Which
  // thread takes which item is open: what an item writes must be its own, or its thread's. work() must not throw.
  template <typename Work>
  void run(int64_t items, const Work& work) {
    if (others_.empty() || items < 2) {
      for (int64_t item = 0; item < items; ++item) work(item, 0);
      return;
    }
    share(items, &work,
          [](const void* task, int64_t item, int thread) { (*static_cast<const Work*>(task))(item, thread); });
  }

 private:
  using Call = void (*)(const void* work, int64_t item, int thread);
  void share(int64_t items, const void* work, Call call);
  void take_items(int thread);
  void wait_for_loops(int thread);

  // A line of memory for what says that there is a loop and which, one for each counter that all write.
  alignas(64) std::atomic<uint32_t> loop_ = 0;  // counts loops; waited on
  std::atomic<bool> ends_ = false;
  // Of the loop at hand; written before loop_ moves on, read after.
  const void* work_ = nullptr;
  Call call_ = nullptr;
  int64_t items_ = 0;
  std::vector<std::thread> others_;
  alignas(64) std::atomic<int> busy_ = 0;  // other threads that aren't through with this one
  alignas(64) std::atomic<int64_t> next_ = 0;
};

}  // namespace perfcast::ai
