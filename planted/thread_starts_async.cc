// Planted: std::async for each small piece of a sum; mended, the piece is computed where it is needed.
#include <future>

#include "planted.h"

namespace {

constexpr uint64_t kPieces = 30'000;
constexpr int kRounds = 1200;

uint64_t piece(uint64_t number) {
  for (int round = 0; round < kRounds; ++round) number = planted::mix(number);
  return number;
}

}  // namespace

int main() {
  const auto policy = planted::kMended ? std::launch::deferred : std::launch::async;
  uint64_t sum = 0;
  for (uint64_t number = 0; number < kPieces; ++number) sum += std::async(policy, piece, number).get();
  return planted::print_checksum(sum);
}
