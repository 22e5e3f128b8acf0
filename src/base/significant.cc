#include "base/significant.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace perfcast {
namespace {

constexpr double kLeast = 1e-12, kMost = 1e15;  // beyond, nobody counts the zeros

}  // namespace

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  if (!(std::abs(value) >= kLeast && std::abs(value) < kMost)) return fmt::format("{:.{}g}", value, digits);
  // The exponent of the rounded value: 999.6 has four digits of three.
  const std::string rounded = fmt::format("{:.{}e}", value, digits - 1);
  int exponent = 0;
  const char* power = rounded.data() + rounded.find('e') + 1;
  if (*power == '+') ++power;
  std::from_chars(power, rounded.data() + rounded.size(), exponent);
  const double exact = std::strtod(rounded.c_str(), nullptr);
  std::string text = fmt::format("{:.{}f}", exact, std::max(digits - 1 - exponent, 0));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace perfcast
