// Planted: sscanf(3) takes number after number off one long text, and looks for the text's end each time; mended,
// strtoull(3), which goes no farther than the number.
#include <cinttypes>
#include <cstring>

#include "planted.h"

namespace {

constexpr size_t kNumbers = 50'000, kTexts = 2;

}  // namespace

int main() {
  planted::Random random(6);
  uint64_t sum = 0;
  for (size_t time = 0; time < kTexts; ++time) {
    std::string text;
    for (size_t i = 0; i < kNumbers; ++i) text += std::to_string(random.below(1'000'000)) + " ";
    const char* at = text.c_str();
    for (size_t i = 0; i < kNumbers; ++i) {
      uint64_t number = 0;
      if constexpr (planted::kMended) {
        char* end = nullptr;
        number = std::strtoull(at, &end, 10);
        at = end;
      } else {
        int read = 0;
        if (std::sscanf(at, "%" SCNu64 "%n", &number, &read) != 1) return EXIT_FAILURE;
        at += read;
      }
      for (int round = 0; round < 100; ++round) number = planted::mix(number);
      sum += number;
    }
  }
  return planted::print_checksum(sum);
}
