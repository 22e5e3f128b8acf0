// Planted: a text is built with text = text + line, which copies all of it for each line.
#include "planted.h"

namespace {

constexpr int kTexts = 2000;
constexpr int kLines = 2000;

std::string table(int number) {
  std::string text;
  if constexpr (planted::kMended) text.reserve(static_cast<size_t>(kLines) * 16);
  for (int i = 0; i < kLines; ++i) {
    char line[32];
    std::snprintf(line, sizeof line, "%d;%d;\n", i, number);
    if constexpr (planted::kMended) {
      text += line;
    } else {
      text = text + line;  // NOLINT(performance-inefficient-string-concatenation)
    }
  }
  return text;
}

}  // namespace

int main() {
  uint64_t checksum = 0;
  for (int number = 0; number < kTexts; ++number) {
    const std::string text = table(number);
    checksum = planted::mix(checksum + text.size() + static_cast<uint8_t>(text[text.size() / 2]));
  }
  return planted::print_checksum(checksum);
}
