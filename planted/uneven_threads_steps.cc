// Planted: in each step one thread has three quarters of the cells, and the other waits at the barrier; mended, half.
#include <pthread.h>

#include <thread>
#include <vector>

#include "planted.h"

namespace {

constexpr uint64_t kSteps = 2, kCells = 8000;
constexpr uint64_t kOfFirst = planted::kMended ? kCells / 2 : kCells / 4;
constexpr int kRounds = 16'000;

uint64_t cell(uint64_t step, uint64_t number) {
  uint64_t value = step * kCells + number;
  for (int round = 0; round < kRounds; ++round) value = planted::mix(value);
  return value;
}

}  // namespace

int main() {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  std::vector<uint64_t> sums(2);
  const auto work = [&](uint64_t thread) {
    uint64_t own = 0;
    for (uint64_t step = 0; step < kSteps; ++step) {
      const uint64_t first = thread == 0 ? 0 : kOfFirst, last = thread == 0 ? kOfFirst : kCells;
      for (uint64_t number = first; number < last; ++number) own += cell(step, number);
      pthread_barrier_wait(&barrier);
    }
    sums[thread] = own;
  };
  std::thread one(work, 0), other(work, 1);
  one.join();
  other.join();
  return planted::print_checksum(sums[0] + sums[1]);
}
