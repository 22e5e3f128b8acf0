// Planted: two threads wait for each other after each row of microseconds; mended, after each 200 rows.
#include <pthread.h>

#include <thread>

#include "planted.h"

namespace {

constexpr uint64_t kRows = 100'000;
constexpr uint64_t kRowsApart = planted::kMended ? 200 : 1;

struct Half {
  alignas(64) uint64_t sum = 0;
};

void work(uint64_t half, pthread_barrier_t& barrier, Half& mine) {
  for (uint64_t row = 0; row < kRows; ++row) {
    uint64_t number = 2 * row + half;
    for (int round = 0; round < 300; ++round) number = planted::mix(number);
    mine.sum += number;
    if (row % kRowsApart == 0) pthread_barrier_wait(&barrier);
  }
}

}  // namespace

int main() {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  Half halves[2];
  std::thread other(work, 1, std::ref(barrier), std::ref(halves[1]));
  work(0, barrier, halves[0]);
  other.join();
  return planted::print_checksum(halves[0].sum + halves[1].sum);
}
