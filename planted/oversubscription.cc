// Planted: sixteen threads for each CPU meet at a barrier after every short step. How many: --threads N, or
// OMP_NUM_THREADS.
#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

#include "planted.h"

namespace {

constexpr size_t kCells = 8192;
constexpr int kSteps = 15000;

unsigned thread_count(int argc, char** argv) {
  const char* given = argc == 3 && std::strcmp(argv[1], "--threads") == 0 ? argv[2] : std::getenv("OMP_NUM_THREADS");
  const long count = given != nullptr ? std::strtol(given, nullptr, 10) : 0;
  if (count > 0) return static_cast<unsigned>(count);
  return planted::kMended ? planted::cpus() : 16 * planted::cpus();
}

// One thread's part of the steps: each cell from three of the step before.
void simulate(size_t begin, size_t end, std::vector<uint64_t>* cells, std::barrier<>& barrier) {
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<uint64_t>& from = cells[step % 2];
    std::vector<uint64_t>& to = cells[(step + 1) % 2];
    for (size_t i = begin; i < end; ++i) {
      to[i] = planted::mix(from[(i + kCells - 1) % kCells] + 2 * from[i] + from[(i + 1) % kCells]);
    }
    barrier.arrive_and_wait();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned count = thread_count(argc, argv);
  std::vector<uint64_t> cells[2] = {std::vector<uint64_t>(kCells, 1), std::vector<uint64_t>(kCells)};
  std::barrier<> barrier(count);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back(simulate, kCells * i / count, kCells * (i + 1) / count, cells, std::ref(barrier));
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t checksum = 0;
  for (const uint64_t cell : cells[kSteps % 2]) checksum = planted::mix(checksum + cell);
  return planted::print_checksum(checksum);
}
