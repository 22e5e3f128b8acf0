// Planted: the rows of a triangle are split in halves, and the longer rows are all in one; mended, rows in turns.
#include <thread>
#include <vector>

#include "planted.h"

namespace {

constexpr uint64_t kThreads = 2, kRows = 24'000;

void rows(uint64_t thread, uint64_t& sum) {
  uint64_t own = 0;
  for (uint64_t i = 0; i < kRows / kThreads; ++i) {
    const uint64_t row = planted::kMended ? i * kThreads + thread : thread * (kRows / kThreads) + i;
    for (uint64_t column = 0; column <= row; ++column) own += planted::mix(row ^ (column << 20));
  }
  sum = own;
}

}  // namespace

int main() {
  std::vector<uint64_t> sums(kThreads);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(rows, thread, std::ref(sums[thread]));
  for (std::thread& thread : threads) thread.join();
  uint64_t sum = 0;
  for (const uint64_t of : sums) sum += of;
  return planted::print_checksum(sum);
}
