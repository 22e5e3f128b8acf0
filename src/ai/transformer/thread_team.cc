#include "ai/transformer/thread_team.h"

#include <system_error>

namespace perfcast::ai {
namespace {

// Some 50 us: longer than what lies between two loops of a step, shorter than what waking up costs to matter.
constexpr int kSpins = 2000;

void pause_thread() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadTeam::ThreadTeam(int threads) {
  others_.reserve(static_cast<size_t>(threads > 1 ? threads - 1 : 0));
  for (int thread = 1; thread < threads; ++thread) {
    try {
      others_.emplace_back([this, thread] { wait_for_loops(thread); });
    } catch (const std::system_error&) {
      break;
    }
  }
}

ThreadTeam::~ThreadTeam() {
  ends_ = true;
  loop_.fetch_add(1, std::memory_order_release);
  loop_.notify_all();
  for (std::thread& other : others_) other.join();
}

void ThreadTeam::share(int64_t items, const void* work, Call call) {
  work_ = work;
  call_ = call;
  items_ = items;
  next_.store(0, std::memory_order_relaxed);
  busy_.store(static_cast<int>(others_.size()), std::memory_order_relaxed);
  loop_.fetch_add(1, std::memory_order_release);
  loop_.notify_all();
  take_items(0);
  for (int spins = 0; busy_.load(std::memory_order_acquire) > 0; ++spins) {
    pause_thread();
    if (spins > kSpins) std::this_thread::yield();
  }
}

void ThreadTeam::take_items(int thread) {
  for (int64_t item = next_.fetch_add(1, std::memory_order_relaxed); item < items_;
       item = next_.fetch_add(1, std::memory_order_relaxed)) {
    call_(work_, item, thread);
  }
}

void ThreadTeam::wait_for_loops(int thread) {
  uint32_t seen = 0;
  while (true) {
    for (int spins = 0; loop_.load(std::memory_order_acquire) == seen; ++spins) {
      if (spins < kSpins) {
        pause_thread();
      } else {
        loop_.wait(seen, std::memory_order_acquire);
      }
    }
    ++seen;
    if (ends_) return;
    take_items(thread);
    busy_.fetch_sub(1, std::memory_order_acq_rel);
  }
}

}  // namespace perfcast::ai
