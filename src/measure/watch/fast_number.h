#pragma once
// Decimal numbers at the speed of a stream: a number of up to 19 digits and a small power of ten is exact in one
// operation (Clinger, PLDI 1990); anything else goes to std::from_chars. Same bits as that in every case.

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace perfcast::measure {

// [begin, end) from its first character on: nullptr where no number begins, else behind it. Takes what from_chars
// takes, "nan" and "inf" among it, and a leading '+'.
inline const char* read_number(const char* begin, const char* end, double& value) {
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char* at = begin;
  if (at != end && *at == '+') {
    ++begin;
    ++at;
    if (at != end && *at == '-') return nullptr;
  }
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  uint64_t mantissa = 0;
  const char* const first = at;
  while (at != end && static_cast<unsigned char>(*at - '0') < 10)
    mantissa = 10 * mantissa + static_cast<uint64_t>(*at++ - '0');
  auto digits = at - first;
  int64_t exponent = 0;
  if (at != end && *at == '.') {
    const char* const fraction = ++at;
    while (at != end && static_cast<unsigned char>(*at - '0') < 10)
      mantissa = 10 * mantissa + static_cast<uint64_t>(*at++ - '0');
    exponent = -(at - fraction);
    digits += at - fraction;
  }
  bool plain = digits > 0 && digits <= 19;
  if (plain && at != end && (*at == 'e' || *at == 'E')) {
    const char* power = at + 1;
    const bool down = power != end && *power == '-';
    if (power != end && (*power == '-' || *power == '+')) ++power;
    int64_t stated = 0;
    const char* const from = power;
    while (power != end && static_cast<unsigned char>(*power - '0') < 10 && power - from < 4)
      stated = 10 * stated + (*power++ - '0');
    plain = power != from && power - from < 4;
    exponent += down ? -stated : stated;
    at = power;
  }
  if (plain && mantissa <= (uint64_t{1} << 53) && exponent >= -22 && exponent <= 22) {
    const auto exact = static_cast<double>(mantissa);
    value = exponent < 0 ? exact / kPowers[-exponent] : exact * kPowers[exponent];
    if (negative) value = -value;
    return at;
  }
  const auto [behind, problem] = std::from_chars(begin, end, value);
  return problem == std::errc() ? behind : nullptr;
}

// The whole text but for blanks around it.
inline bool is_number(std::string_view text, double& value) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  while (begin != end && (*begin == ' ' || *begin == '\t')) ++begin;
  while (end != begin && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) --end;
  return begin != end && read_number(begin, end, value) == end;
}

}  // namespace perfcast::measure
