#include "energy/meter_csv.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kMostPower_w = 1e8;
constexpr double kMostBad = 0.25;  // of the rows
// Unix seconds of this century are between 1e9 and 4e9: 1000 times that are milliseconds, and so on.
constexpr double kMilliseconds = 1e11, kMicroseconds = 1e14, kNanoseconds = 1e17, kBeyondTime = 1e20;

bool is_time_column(const std::string& name) {
  const std::string key = lower_case(trim(name));
  return key.starts_with("time") || key.starts_with("date") || key == "unix_s" || key == "unixtime" || key == "epoch";
}

bool is_power_column(const std::string& name) {
  const std::string key = lower_case(trim(name));
  return key.find("watt") != std::string::npos || key.find("power") != std::string::npos || key.ends_with("_w") ||
         key.ends_with("_mw") || key == "w";
}

double watts_per_unit(const std::string& name) {
  const std::string key = lower_case(trim(name));
  const auto holds = [&](const char* text) { return key.find(text) != std::string::npos; };
  if (holds("milliwatt") || key.ends_with("_mw") || holds("(mw)") || holds("[mw]")) return 1e-3;
  if (holds("kilowatt") || key.ends_with("_kw") || holds("(kw)") || holds("[kw]")) return 1e3;
  return 1;
}

bool is_blank(std::string_view cell) {
  const std::string key = lower_case(trim(cell));
  return key.empty() || key == "n/a" || key == "na" || key == "nan" || key == "-" || key == "null";
}

std::optional<int64_t> digits(std::string_view text, size_t at, size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int64_t value = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value;
}

// Days since 1970-01-01 of a date of the Gregorian calendar: years that begin in March, in eras of 400.
int64_t days_of(int64_t year, int64_t month, int64_t day) {
  if (month <= 2) --year;
  const int64_t era = year / 400, of_era = year - era * 400;
  const int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// Seconds east of Greenwich: "Z", "+01:00", "-0800".
std::optional<double> zone_of(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() < 5 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const auto hours = digits(text, 1, 2);
  const bool colon = text[3] == ':';
  const auto minutes = digits(text, colon ? 4 : 3, 2);
  if (!hours || !minutes || *hours > 14 || *minutes > 59 || text.size() != (colon ? 6 : 5)) return std::nullopt;
  const auto seconds = static_cast<double>(*hours * 3600 + *minutes * 60);
  return text[0] == '-' ? -seconds : seconds;
}

std::optional<double> iso_time(std::string_view text) {
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2),
             hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  if (*year < 1970 || *month < 1 || *month > 12 || *day < 1 || *day > 31 || *hour > 23 || *minute > 59 || *second > 60)
    return std::nullopt;
  size_t at = 19;
  double fraction = 0;
  if (at < text.size() && (text[at] == '.' || text[at] == ',')) {
    double unit = 0.1;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      fraction += (text[at] - '0') * unit;
      unit /= 10;
    }
  }
  const auto zone = zone_of(trim(text.substr(at)));
  if (!zone) return std::nullopt;
  const int64_t whole = ((days_of(*year, *month, *day) * 24 + *hour) * 60 + *minute) * 60 + *second;
  return static_cast<double>(whole) + fraction - *zone;
}

std::optional<double> unix_time(std::string_view cell) {
  const std::string_view text = trim(cell);
  const auto number = parse_number(text);
  if (!number) return iso_time(text);
  if (*number < 0 || *number >= kBeyondTime) return std::nullopt;
  if (*number >= kNanoseconds) return *number * 1e-9;
  if (*number >= kMicroseconds) return *number * 1e-6;
  if (*number >= kMilliseconds) return *number * 1e-3;
  return *number;
}

Result<size_t> only_column(const CsvTable& table, const std::string& source, bool (*fits)(const std::string&),
                           const char* what, const char* expected) {
  std::vector<std::string> found;
  size_t at = 0;
  for (size_t i = 0; i < table.columns().size(); ++i) {
    if (!fits(table.columns()[i])) continue;
    if (found.empty()) at = i;
    found.push_back(printable(table.columns()[i]));
  }
  if (found.size() == 1) return at;
  if (found.empty()) {
    return Error{"missing-column",
                 std::string("no column holds the ") + what + " among " + printable(join(table.columns(), ", ")),
                 source + ":1", expected};
  }
  return Error{"ambiguous-column", "several columns could hold the " + std::string(what) + ": " + join(found, ", "),
               source + ":1", std::string("one of them; ") + expected};
}

}  // namespace

Result<PowerLog> parse_power_csv(std::string_view text, const std::string& source) {
  const std::string_view header = text.substr(0, text.find('\n'));
  const bool semicolons = header.find(',') == std::string_view::npos && header.find(';') != std::string_view::npos;
  // What a logger is writing right now is no row yet.
  if (!text.empty() && text.back() != '\n') text = text.substr(0, text.rfind('\n') + 1);
  const auto table = CsvTable::parse(text, source, semicolons ? ';' : ',');
  if (!table) return table.error();
  const auto time = only_column(*table, source, is_time_column, "time", "a column timestamp: Unix seconds or ISO 8601");
  if (!time) return time.error();
  const auto power = only_column(*table, source, is_power_column, "power", "a column such as power_w");
  if (!power) return power.error();
  const double factor = watts_per_unit(table->columns()[*power]);
  PowerLog log;
  log.samples.reserve(table->rows());
  double last_s = -1;
  std::optional<Error> first_bad;
  const auto leave_out = [&](Error error) {
    ++log.bad_rows;
    if (first_bad) return;
    log.first_bad = error.where + ": " + error.message;
    first_bad = std::move(error);
  };
  for (size_t row = 0; row < table->rows(); ++row) {
    const auto unix_s = unix_time(table->cell(row, *time));
    if (!unix_s) {
      leave_out({"bad-time", "'" + printable(table->cell(row, *time).substr(0, 60)) + "' is no time", table->where(row),
                 "Unix seconds, or ISO 8601 with its zone: 2026-11-25T20:11:35Z"});
      continue;
    }
    if (is_blank(table->cell(row, *power))) {
      ++log.blank_rows;
      continue;
    }
    const auto value = parse_number(trim(table->cell(row, *power)));
    const double power_w = value.value_or(-1) * factor;
    if (!value || power_w < 0 || power_w > kMostPower_w) {
      leave_out({"bad-number", "'" + printable(table->cell(row, *power).substr(0, 60)) + "' is no power of a machine",
                 table->where(row), "watts from 0 to 1e8, or a blank"});
      continue;
    }
    if (*unix_s < last_s) ++log.out_of_order_rows;
    last_s = *unix_s;
    log.samples.push_back({*unix_s, power_w});
  }
  if (first_bad && static_cast<double>(log.bad_rows) > kMostBad * static_cast<double>(table->rows())) return *first_bad;
  std::stable_sort(log.samples.begin(), log.samples.end(),
                   [](const PowerSample& a, const PowerSample& b) { return a.unix_s < b.unix_s; });
  if (!log.samples.empty()) log.last_unix_s = log.samples.back().unix_s;
  return log;
}

}  // namespace perfcast
