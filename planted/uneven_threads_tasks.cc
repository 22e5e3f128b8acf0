// Planted: tasks of all sizes are dealt out beforehand, the largest to the same thread; mended, whoever is free takes
// the next one.
#include <atomic>
#include <thread>
#include <vector>

#include "planted.h"

namespace {

constexpr uint64_t kThreads = 2, kTasks = 64, kUnit = 700'000;

uint64_t run(uint64_t task) {
  uint64_t number = task;
  const uint64_t rounds = kUnit * (task < kTasks / 8 ? 24 : 1);
  for (uint64_t round = 0; round < rounds; ++round) number = planted::mix(number);
  return number;
}

}  // namespace

int main() {
  std::atomic<uint64_t> next = 0, sum = 0;
  const auto work = [&](uint64_t thread) {
    uint64_t own = 0;
    if constexpr (planted::kMended) {
      for (uint64_t task = next++; task < kTasks; task = next++) own += run(task);
    } else {
      const uint64_t share = kTasks / kThreads;
      for (uint64_t task = thread * share; task < (thread + 1) * share; ++task) own += run(task);
    }
    sum += own;
  };
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  return planted::print_checksum(sum);
}
