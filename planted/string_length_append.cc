// Planted: lines are appended by strcat(3), which walks to the end of all that is there; mended, the end is kept.
#include <cstring>
#include <vector>

#include "planted.h"

namespace {

constexpr size_t kLines = 30'000, kPages = 4;

}  // namespace

int main() {
  planted::Random random(4);
  std::vector<char> page(kLines * 24);
  uint64_t sum = 0;
  for (size_t number = 0; number < kPages; ++number) {
    page[0] = 0;
    char* end = page.data();
    for (size_t line = 0; line < kLines; ++line) {
      char text[20];
      for (size_t i = 0; i < 18; ++i) text[i] = static_cast<char>('a' + random.below(26));
      text[18] = '\n';
      text[19] = 0;
      if constexpr (planted::kMended) {
        end = stpcpy(end, text);
      } else {
        std::strcat(page.data(), text);
      }
    }
    for (const char* at = page.data(); *at != 0; ++at) sum = planted::mix(sum + static_cast<uint64_t>(*at));
  }
  return planted::print_checksum(sum);
}
