// Planted: the end of the text is looked for at each letter; mended, once.
#include <cstring>

#include "planted.h"

namespace {

constexpr size_t kLetters = 60'000, kTexts = 12;

// Capitals where the hash of the place says so: the text changes, so that the compiler can't remember its length.
void change(char* text) {
  size_t length = planted::kMended ? std::strlen(text) : 0;
  for (size_t i = 0; i < (planted::kMended ? length : std::strlen(text)); ++i) {
    if (planted::mix(i + static_cast<size_t>(text[i])) % 3 == 0) text[i] = static_cast<char>(text[i] ^ 0x20);
    for (int round = 0; round < 12; ++round) length = planted::kMended ? length : planted::mix(length + i);
  }
}

}  // namespace

int main() {
  planted::Random random(3);
  uint64_t sum = 0;
  for (size_t number = 0; number < kTexts; ++number) {
    std::string text(kLetters, 'a');
    for (char& letter : text) letter = static_cast<char>('a' + random.below(26));
    change(text.data());
    for (const char letter : text) sum = planted::mix(sum + static_cast<uint64_t>(letter));
  }
  return planted::print_checksum(sum);
}
