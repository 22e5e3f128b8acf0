#include "machine/meter/meter_csv.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/text.h"
#include "machine/meter/log_devices.h"

namespace perfcast {
namespace {

constexpr double kMostPower_w = 1e8;
constexpr double kMostBad = 0.25;  // of the rows
constexpr const char* kPowerColumns = "a column such as power_w, or power_mw, power_uw, power_kw, Power (mW)";
// Unix seconds of this century are between 1e9 and 4e9: 1000 times that are milliseconds, and so on.
constexpr double kMilliseconds = 1e11, kMicroseconds = 1e14, kNanoseconds = 1e17, kBeyondTime = 1e20;

bool is_time_column(const std::string& name) {
  const std::string key = lower_case(trim(name));
  return key.starts_with("time") || key.starts_with("date") || key == "unix_s" || key == "unixtime" || key == "epoch";
}

// What the name of a column says that its numbers are.
enum class ColumnUnit {
  kNone,   // no power, or nothing that says so
  kPower,  // in watts times a factor; watts where a power has no unit
  kOther,  // energy, apparent power, or a unit that is not known: never read as watts
};
struct NamedUnit {
  ColumnUnit unit = ColumnUnit::kNone;
  double factor = 1;
};

struct UnitWord {
  const char* text;
  double factor;  // 0: a unit of something else
};
constexpr UnitWord kUnitWords[] = {{"w", 1},           {"watt", 1},         {"watts", 1},
                                   {"mw", 1e-3},       {"milliwatt", 1e-3}, {"milliwatts", 1e-3},
                                   {"uw", 1e-6},       {"microwatt", 1e-6}, {"microwatts", 1e-6},
                                   {"kw", 1e3},        {"kilowatt", 1e3},   {"kilowatts", 1e3},
                                   {"nanowatt", 1e-9}, {"nanowatts", 1e-9}, {"megawatt", 1e6},
                                   {"megawatts", 1e6}, {"wh", 0},           {"kwh", 0},
                                   {"mwh", 0},         {"uwh", 0},          {"j", 0},
                                   {"mj", 0},          {"uj", 0},           {"kj", 0},
                                   {"joule", 0},       {"joules", 0},       {"microjoules", 0},
                                   {"millijoules", 0}, {"kilojoules", 0},   {"va", 0},
                                   {"kva", 0},         {"var", 0},          {"kvar", 0},
                                   {"dbm", 0},         {"btu", 0},          {"amp", 0},
                                   {"amps", 0},        {"volt", 0},         {"volts", 0},
                                   {"percent", 0},     {"pct", 0},          {"factor", 0}};
// Beside a power they say which, not in what unit.
constexpr const char* kQualifiers[] = {"avg", "average", "mean",   "min", "max",   "total",  "active",  "real",
                                       "ac",  "dc",      "in",     "out", "input", "output", "now",     "instantaneous",
                                       "rms", "server",  "system", "cpu", "gpu",   "board",  "package", "power"};

std::optional<double> factor_of(const std::string& word) {
  for (const UnitWord& unit : kUnitWords) {
    if (word == unit.text) return unit.factor;
  }
  return std::nullopt;
}

bool is_hour(const std::string& word) {
  return word == "h" || word == "hr" || word == "hrs" || word == "hour" || word == "hours";
}

struct NameWord {
  std::string text;
  bool in_brackets = false;
};

// "Active Power (mW)" -> active, power, mw; "powerWatts" -> power, watts. A micro sign is a u.
std::vector<NameWord> words_of(const std::string& name) {
  std::string plain = lower_case(trim(name));
  for (const char* micro : {"\xc2\xb5", "\xce\xbc"}) {
    for (size_t at = plain.find(micro); at != std::string::npos; at = plain.find(micro)) plain.replace(at, 2, "u");
  }
  std::vector<NameWord> words;
  NameWord word;
  const auto end_word = [&] {
    // Words that are written together.
    for (const char* first : {"power", "watt"}) {
      const std::string rest = word.text.starts_with(first) ? word.text.substr(std::string_view(first).size()) : "";
      if (rest.empty() || rest == "s") continue;
      if (!factor_of(rest) && !is_hour(rest)) continue;
      words.push_back({first, word.in_brackets});
      word.text = rest;
    }
    if (!word.text.empty()) words.push_back(word);
    word.text.clear();
  };
  for (const char c : plain) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '%' || (c & 0x80) != 0;
    if (is_letter) {
      word.text += c;
      continue;
    }
    end_word();
    if (c == '(' || c == '[') word.in_brackets = true;
    if (c == ')' || c == ']') word.in_brackets = false;
  }
  end_word();
  return words;
}

NamedUnit unit_of(const std::string& name) {
  const std::vector<NameWord> words = words_of(name);
  bool is_power = false, is_other = false, unknown_unit = false;
  std::optional<double> factor;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    is_power = is_power || word.find("power") != std::string::npos || word.find("watt") != std::string::npos;
    if (const auto unit = factor_of(word)) {
      is_other = is_other || *unit == 0 || (factor && *factor != *unit);
      if (*unit != 0) factor = unit;
      // Only a unit of power at the end, or alone, makes a power of what isn't called so.
      if (*unit != 0 && i + 1 == words.size()) is_power = true;
      // "watt hours", "kW/h": energy.
      if (*unit != 0 && i + 1 < words.size() && is_hour(words[i + 1].text)) is_other = true;
      continue;
    }
    const bool is_qualifier =
        std::find(std::begin(kQualifiers), std::end(kQualifiers), word) != std::end(kQualifiers) ||
        (!word.empty() && word.find_first_not_of("0123456789") == std::string::npos);
    // What stands in brackets is a unit, where no other word is one.
    unknown_unit = unknown_unit || (words[i].in_brackets && !is_qualifier);
    if (word.find("watth") != std::string::npos) is_other = true;
  }
  if (!is_power) return {};
  is_other = is_other || (unknown_unit && !factor);
  return {is_other ? ColumnUnit::kOther : ColumnUnit::kPower, factor.value_or(1)};
}

bool is_power_column(const std::string& name) { return unit_of(name).unit == ColumnUnit::kPower; }

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

// As nvidia-smi writes it, by the clock of this machine: "2026/11/25 20:11:35.123".
std::optional<double> local_time(std::string_view text) {
  std::tm fields{};
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2),
             hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  if (text[4] != '/' || text[7] != '/' || text[10] != ' ' || text[13] != ':' || text[16] != ':') return std::nullopt;
  fields.tm_year = static_cast<int>(*year) - 1900;
  fields.tm_mon = static_cast<int>(*month) - 1;
  fields.tm_mday = static_cast<int>(*day);
  fields.tm_hour = static_cast<int>(*hour);
  fields.tm_min = static_cast<int>(*minute);
  fields.tm_sec = static_cast<int>(*second);
  fields.tm_isdst = -1;
  const std::time_t whole = std::mktime(&fields);
  const auto fraction = text.size() > 19 ? parse_number("0" + std::string(text.substr(19))) : 0.0;
  if (whole < 0 || !fraction || *fraction >= 1) return std::nullopt;
  return static_cast<double>(whole) + *fraction;
}

// "62.35 W", as nvidia-smi writes it: in watts; without a unit, times the factor of the column.
std::optional<double> number_with_unit(std::string_view cell, double factor) {
  cell = trim(cell);
  if (const auto number = parse_number(cell)) return *number * factor;
  const size_t end = cell.find_last_of("0123456789.");
  if (end == std::string_view::npos) return std::nullopt;
  const auto unit = factor_of(lower_case(trim(cell.substr(end + 1))));
  const auto number = parse_number(cell.substr(0, end + 1));
  if (!unit || *unit == 0 || !number) return std::nullopt;
  return *number * *unit;
}

std::optional<double> unix_time(std::string_view cell) {
  const std::string_view text = trim(cell);
  const auto number = parse_number(text);
  if (!number) return text.size() > 4 && text[4] == '/' ? local_time(text) : iso_time(text);
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

// A column that is called a power and is in another unit, or in one that nobody here knows.
std::optional<Error> other_unit(const CsvTable& table, const std::string& source) {
  for (const std::string& name : table.columns()) {
    if (unit_of(name).unit != ColumnUnit::kOther) continue;
    return Error{"bad-unit",
                 "the column '" + printable(name) + "' is not in watts: another unit, or none that is known",
                 source + ":1", kPowerColumns};
  }
  return std::nullopt;
}

}  // namespace

Result<PowerLog> parse_power_csv(std::string_view text, const std::string& source) {
  // What a logger is writing right now is no row yet.
  if (!text.empty() && text.back() != '\n') text = text.substr(0, text.rfind('\n') + 1);
  const auto table = CsvTable::parse_any_form(text, source);
  if (!table) return table.error();
  const auto time = only_column(*table, source, is_time_column, "time", "a column timestamp: Unix seconds or ISO 8601");
  if (!time) return time.error();
  const auto power = only_column(*table, source, is_power_column, "power", kPowerColumns);
  if (!power) {
    if (power.error().code == "missing-column") {
      if (const auto other = other_unit(*table, source)) return *other;
    }
    return power.error();
  }
  const double factor = unit_of(table->columns()[*power]).factor;
  const auto device = device_column(*table);
  std::map<std::string, size_t> devices;
  std::vector<DeviceSample> of_devices;
  PowerLog log;
  log.form = table->form();
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
    const auto value = number_with_unit(table->cell(row, *power), factor);
    const double power_w = value.value_or(-1);
    if (!value || power_w < 0 || power_w > kMostPower_w) {
      leave_out({"bad-number", "'" + printable(table->cell(row, *power).substr(0, 60)) + "' is no power of a machine",
                 table->where(row), "watts from 0 to 1e8, or a blank"});
      continue;
    }
    if (*unix_s < last_s) ++log.out_of_order_rows;
    last_s = *unix_s;
    if (device) {
      const std::string name(trim(table->cell(row, *device)));
      of_devices.push_back({devices.emplace(name, devices.size()).first->second, {*unix_s, power_w}});
    } else {
      log.samples.push_back({*unix_s, power_w});
    }
  }
  if (first_bad && static_cast<double>(log.bad_rows) > kMostBad * static_cast<double>(table->rows())) return *first_bad;
  std::stable_sort(log.samples.begin(), log.samples.end(),
                   [](const PowerSample& a, const PowerSample& b) { return a.unix_s < b.unix_s; });
  std::stable_sort(of_devices.begin(), of_devices.end(),
                   [](const DeviceSample& a, const DeviceSample& b) { return a.sample.unix_s < b.sample.unix_s; });
  log.devices = devices.size();
  const Status merged = devices.size() > 1 ? sum_devices(std::move(of_devices), devices.size(), source, log)
                                           : merge_equal_times(source, log);
  if (!merged) return merged.error();
  if (!log.samples.empty()) log.last_unix_s = log.samples.back().unix_s;
  return log;
}

}  // namespace perfcast
