// Planted: a pool of threads asks without pause for what one thread computes, and takes its CPU; mended, they sleep
// until then.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "planted.h"

namespace {

constexpr size_t kBatches = 100;
constexpr int kRounds = 1'000'000;  // of each batch

class Progress {
 public:
  void publish(size_t done) {
    {
      const std::lock_guard lock(mutex_);
      done_.store(done, std::memory_order_release);
    }
    changed_.notify_all();
  }
  void wait_for(size_t wanted) {
    if constexpr (planted::kMended) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return done_.load(std::memory_order_acquire) >= wanted; });
    } else {
      while (done_.load(std::memory_order_acquire) < wanted) {
      }
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<size_t> done_ = 0;
};

uint64_t compute(uint64_t seed) {
  for (int round = 0; round < kRounds; ++round) seed = planted::mix(seed);
  return seed;
}

}  // namespace

int main() {
  Progress progress;
  std::vector<uint64_t> results(kBatches);
  std::atomic<uint64_t> checksum = 0;
  const auto consume = [&] {
    for (size_t batch = 0; batch < kBatches; ++batch) {
      progress.wait_for(batch + 1);
      checksum += planted::mix(results[batch]);
    }
  };
  std::vector<std::thread> pool;
  for (unsigned i = 0; i < 2 * planted::cpus(); ++i) pool.emplace_back(consume);
  for (size_t batch = 0; batch < kBatches; ++batch) {
    results[batch] = compute(batch);
    progress.publish(batch + 1);
  }
  for (std::thread& thread : pool) thread.join();
  return planted::print_checksum(checksum);
}
