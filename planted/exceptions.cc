// Planted: a field that is no number is told by an exception, and every eighth is none.
#include <charconv>
#include <stdexcept>
#include <vector>

#include "planted.h"

namespace {

constexpr int kPasses = 10000;
constexpr size_t kFields = 1000;
constexpr int kRounds = 4;

// Throws where the text is no number.
[[maybe_unused]] int number_or_throw(const std::string& text) {
  int number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) {
    throw std::invalid_argument("no number: " + text);
  }
  return number;
}

// Says whether the text is a number.
[[maybe_unused]] bool number_in(const std::string& text, int& number) {
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{};
}

int number_or_zero(const std::string& text) {
  int number = 0;
  if constexpr (planted::kMended) {
    return number_in(text, number) ? number : 0;
  } else {
    try {
      return number_or_throw(text);
    } catch (const std::invalid_argument&) {
      return 0;
    }
  }
}

// What is done with a field.
uint64_t digest(uint64_t seed, uint64_t number) {
  for (int round = 0; round < kRounds; ++round) seed = planted::mix(seed + number);
  return seed;
}

}  // namespace

int main() {
  planted::Random random(1);
  std::vector<std::string> fields;
  for (size_t i = 0; i < kFields; ++i)
    fields.push_back(i % 8 == 7 ? "n/a" : std::to_string(100'000 + random.below(900'000)));
  uint64_t checksum = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const std::string& field : fields) checksum = digest(checksum, static_cast<uint64_t>(number_or_zero(field)));
  }
  return planted::print_checksum(checksum);
}
