// Planted: one thread hands numbers to another through a queue with room for one; mended, 512 at a time.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "planted.h"

namespace {

constexpr uint64_t kNumbers = 120'000;
constexpr size_t kAtATime = planted::kMended ? 512 : 1;
constexpr int kRounds = 40;

struct Queue {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<uint64_t> numbers;
  bool is_full = false;
};

uint64_t work(uint64_t number) {
  for (int round = 0; round < kRounds; ++round) number = planted::mix(number);
  return number;
}

void produce(Queue& queue) {
  std::vector<uint64_t> made;
  for (uint64_t number = 0; number < kNumbers; ++number) {
    made.push_back(work(number));
    if (made.size() < kAtATime && number + 1 < kNumbers) continue;
    std::unique_lock lock(queue.mutex);
    queue.changed.wait(lock, [&] { return !queue.is_full; });
    queue.numbers.swap(made);
    made.clear();
    queue.is_full = true;
    queue.changed.notify_one();
  }
}

}  // namespace

int main() {
  Queue queue;
  std::thread producer(produce, std::ref(queue));
  uint64_t sum = 0, taken = 0;
  std::vector<uint64_t> mine;
  while (taken < kNumbers) {
    {
      std::unique_lock lock(queue.mutex);
      queue.changed.wait(lock, [&] { return queue.is_full; });
      mine.swap(queue.numbers);
      queue.is_full = false;
      queue.changed.notify_one();
    }
    for (const uint64_t number : mine) sum += work(number);
    taken += mine.size();
    mine.clear();
  }
  producer.join();
  return planted::print_checksum(sum);
}
