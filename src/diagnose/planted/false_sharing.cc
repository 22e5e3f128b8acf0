// Planted: two threads count into arrays of their own that lie in one cache line.
#include <array>
#include <thread>
#include <vector>

#include "diagnose/planted/planted.h"

namespace {

constexpr size_t kThreads = 2;
constexpr size_t kBytes = 1 << 20;
constexpr int kPasses = 128;

// Two lines: some CPUs fetch lines in pairs.
struct alignas(planted::kMended ? 128 : 16) Counts {
  std::array<uint32_t, 4> of_kind{};
};

void count_kinds(const std::vector<uint8_t>& bytes, Counts& counts) {
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const uint8_t byte : bytes) ++counts.of_kind[byte & 3];
  }
}

}  // namespace

int main() {
  planted::Random random(1);
  std::vector<uint8_t> bytes(kBytes);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
  alignas(128) std::array<Counts, kThreads> counts;
  std::vector<std::thread> threads;
  for (Counts& own : counts) threads.emplace_back(count_kinds, std::cref(bytes), std::ref(own));
  for (std::thread& thread : threads) thread.join();
  uint64_t checksum = 0;
  for (const Counts& own : counts) {
    for (const uint32_t count : own.of_kind) checksum = planted::mix(checksum + count);
  }
  return planted::print_checksum(checksum);
}
