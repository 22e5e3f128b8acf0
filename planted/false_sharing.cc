// Planted: two threads keep counters of their own that lie in one cache line.
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "planted.h"

namespace {

constexpr size_t kThreads = 2;
constexpr size_t kMessages = 1 << 20;
constexpr int kPasses = 20;

// What one thread has seen; others may look at any time. Mended, two lines apart, because some CPUs fetch lines in
// pairs.
struct alignas(planted::kMended ? 128 : 16) Seen {
  std::array<std::atomic<uint32_t>, 4> of_kind{};
  uint64_t digest() const {
    uint64_t digest = 0;
    for (const auto& count : of_kind) digest = planted::mix(digest + count);
    return digest;
  }
};

void handle(const std::vector<uint8_t>& messages, Seen& seen, uint64_t& digest) {
  uint64_t own = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const uint8_t message : messages) {
      own = planted::mix(planted::mix(own + message));
      seen.of_kind[message & 3].fetch_add(1, std::memory_order_relaxed);
    }
  }
  digest = own;
}

}  // namespace

int main() {
  planted::Random random(1);
  std::vector<uint8_t> messages(kMessages);
  for (uint8_t& message : messages) message = static_cast<uint8_t>(random.next());
  alignas(128) std::array<Seen, kThreads> seen;
  std::array<uint64_t, kThreads> digests{};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back(handle, std::cref(messages), std::ref(seen[i]), std::ref(digests[i]));
  }
  for (std::thread& thread : threads) thread.join();
  return planted::print_checksum(seen[0].digest() + seen[1].digest() + digests[0] + digests[1]);
}
