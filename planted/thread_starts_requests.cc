// Planted: two threads are started for each request, and a request is microseconds of work.
#include <thread>
#include <vector>

#include "planted.h"

namespace {

constexpr uint64_t kThreads = 2, kRequests = 12'000;
constexpr int kRounds = 1500;

uint64_t answer(uint64_t request) {
  for (int round = 0; round < kRounds; ++round) request = planted::mix(request);
  return request;
}

}  // namespace

int main() {
  std::vector<uint64_t> sums(kThreads * 8);
  const auto work = [&](uint64_t thread, uint64_t first, uint64_t last) {
    for (uint64_t request = first; request < last; ++request) sums[thread * 8] += answer(request * kThreads + thread);
  };
  const uint64_t at_a_time = planted::kMended ? kRequests : 1;
  for (uint64_t first = 0; first < kRequests; first += at_a_time) {
    std::vector<std::thread> threads;
    for (uint64_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread, first, first + at_a_time);
    for (std::thread& thread : threads) thread.join();
  }
  uint64_t sum = 0;
  for (uint64_t thread = 0; thread < kThreads; ++thread) sum += sums[thread * 8];
  return planted::print_checksum(sum);
}
