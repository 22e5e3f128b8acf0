#include "measure/watch/row_time.h"

#include <cmath>
#include <cstdint>

namespace perfcast::measure {
namespace {

// Digits from `at` on, exactly `n` of them.
bool take_digits(std::string_view& text, size_t n, int& value) {
  if (text.size() < n) return false;
  value = 0;
  for (size_t i = 0; i < n; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = 10 * value + (text[i] - '0');
  }
  text.remove_prefix(n);
  return true;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// Days since 1970 of a date of the proleptic Gregorian calendar: years begin in March, so that leap days come last.
int64_t days_of(int year, int month, int day) {
  const int64_t y = year - (month <= 2 ? 1 : 0);
  const int64_t era = (y >= 0 ? y : y - 399) / 400;
  const int64_t of_era = y - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

}  // namespace

std::optional<double> iso_time_s(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!take_digits(text, 4, year) || !take(text, '-') || !take_digits(text, 2, month) || !take(text, '-') ||
      !take_digits(text, 2, day) || month < 1 || month > 12 || day < 1 || day > 31) {
    return std::nullopt;
  }
  auto time_s = static_cast<double>(days_of(year, month, day) * 86400);
  if (text.empty()) return time_s;
  if (!take(text, 'T') && !take(text, 't') && !take(text, ' ')) return std::nullopt;
  int hours = 0;
  int minutes = 0;
  int seconds = 0;
  if (!take_digits(text, 2, hours) || !take(text, ':') || !take_digits(text, 2, minutes)) return std::nullopt;
  if (take(text, ':') && !take_digits(text, 2, seconds)) return std::nullopt;
  if (hours > 24 || minutes > 59 || seconds > 60) return std::nullopt;
  time_s += hours * 3600 + minutes * 60 + seconds;
  if (take(text, '.') || take(text, ',')) {
    double unit = 0.1;
    int digit = 0;
    if (!take_digits(text, 1, digit)) return std::nullopt;
    do {
      time_s += unit * digit;
      unit /= 10;
    } while (take_digits(text, 1, digit));
  }
  if (take(text, 'Z') || take(text, 'z') || text.empty()) return text.empty() ? std::optional(time_s) : std::nullopt;
  const bool east = text.front() == '+';
  if (!east && text.front() != '-') return std::nullopt;
  text.remove_prefix(1);
  int zone_hours = 0;
  int zone_minutes = 0;
  if (!take_digits(text, 2, zone_hours)) return std::nullopt;
  take(text, ':');
  if (!text.empty() && !take_digits(text, 2, zone_minutes)) return std::nullopt;
  if (!text.empty()) return std::nullopt;
  const double zone_s = zone_hours * 3600 + zone_minutes * 60;
  return east ? time_s - zone_s : time_s + zone_s;
}

double time_unit_s(double first) {
  const double size = std::abs(first);
  if (size > 1e17) return 1e-9;
  if (size > 1e14) return 1e-6;
  return size > 1e11 ? 1e-3 : 1;
}

}  // namespace perfcast::measure
