// Planted: two threads take one mutex for every item, to add a number to a total.
#include <mutex>
#include <thread>
#include <vector>

#include "planted.h"

namespace {

constexpr uint64_t kThreads = 2;
constexpr uint64_t kItems = 5'000'000;  // of each thread
constexpr int kRounds = 24;

struct Total {
  std::mutex mutex;
  uint64_t sum = 0;
};

uint64_t score(uint64_t item) {
  for (int round = 0; round < kRounds; ++round) item = planted::mix(item);
  return item;
}

void add_scores(uint64_t thread, Total& total) {
  uint64_t own = 0;
  for (uint64_t item = 0; item < kItems; ++item) {
    const uint64_t found = score(thread * kItems + item);
    if constexpr (planted::kMended) {
      own += found;
    } else {
      const std::lock_guard lock(total.mutex);
      total.sum += found;
    }
  }
  const std::lock_guard lock(total.mutex);
  total.sum += own;
}

}  // namespace

int main() {
  Total total;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (uint64_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(add_scores, thread, std::ref(total));
  for (std::thread& thread : threads) thread.join();
  return planted::print_checksum(total.sum);
}
