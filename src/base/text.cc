#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>

#include "base/significant.h"
#include "base/text_width.h"

namespace perfcast {
namespace {

size_t most_columns = 0;  // of the process' output: a property of its terminal

size_t within_columns(size_t width) {
  if (most_columns == 0 || width == 0) return std::max(width, most_columns);
  return std::min(width, most_columns);
}

size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row[b.size()];
}

// Runs of letters and digits.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const bool is_part = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
    if (is_part) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

}  // namespace

void TextTable::add_column(std::string title, Align align) {
  titles_.push_back(std::move(title));
  aligns_.push_back(align);
}

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(titles_.size());
  rows_.push_back(std::move(cells));
}

void set_most_columns(size_t columns) { most_columns = columns; }

std::string TextTable::to_text(size_t width) const {
  width = within_columns(width);
  constexpr size_t kGap = 2, kLeastText = 12;
  std::vector<size_t> widths;
  for (const std::string& title : titles_) widths.push_back(width_of(title));
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  // Texts are broken at spaces alone: no column is narrower than its longest word.
  std::vector<size_t> least(titles_.size(), kLeastText);
  const auto keep_words = [&](size_t column, const std::string& text) {
    for (const std::string& word : split(text, ' ')) least[column] = std::max(least[column], width_of(word));
  };
  for (size_t c = 0; c < titles_.size(); ++c) keep_words(c, titles_[c]);
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size() && width > 0; ++c) keep_words(c, row[c]);
  }
  size_t shown = titles_.size();
  const auto line_width = [&] {
    const size_t gaps = shown > 0 ? kGap * (shown - 1) : 0;
    return std::accumulate(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(shown), gaps);
  };
  // The widest text gives first.
  const auto narrow = [&] {
    while (line_width() > width) {
      size_t widest = shown;
      for (size_t c = 0; c < shown; ++c) {
        if (aligns_[c] == Align::kLeft && widths[c] > least[c] && (widest == shown || widths[c] > widths[widest])) {
          widest = c;
        }
      }
      if (widest == shown) return false;
      --widths[widest];
    }
    return true;
  };
  if (width > 0) {
    const std::vector<size_t> whole = widths;
    while (!narrow() && shown > 1) {
      --shown;
      widths = whole;
    }
  }
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::vector<std::vector<std::string>> parts(shown);
    size_t lines = 1;
    for (size_t c = 0; c < shown; ++c) {
      parts[c] = width_of(cells[c]) > widths[c] ? split(wrapped(cells[c], widths[c]), '\n') : std::vector{cells[c]};
      lines = std::max(lines, parts[c].size());
    }
    for (size_t l = 0; l < lines; ++l) {
      std::string line;
      for (size_t c = 0; c < shown; ++c) {
        const std::string part = l < parts[c].size() ? parts[c][l] : std::string();
        const size_t used = width_of(part);
        const std::string padding(widths[c] > used ? widths[c] - used : 0, ' ');
        if (c > 0) line.append(kGap, ' ');
        line += aligns_[c] == Align::kRight ? padding + part : part + padding;
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  };
  add_line(titles_);
  for (const auto& row : rows_) add_line(row);
  if (shown < titles_.size()) {
    std::vector<std::string> left_out(titles_.begin() + static_cast<std::ptrdiff_t>(shown), titles_.end());
    std::erase(left_out, "");
    text += wrapped("left out, as the lines are too short: " + join(left_out, ", "), width, "", "  ") + "\n";
  }
  return text;
}

std::string TextTable::to_markdown() const {
  std::string text;
  const auto add_line = [&text](const std::vector<std::string>& cells) {
    text += "|";
    for (const std::string& cell : cells) {
      text += " ";
      for (const char c : cell) text += c == '|' ? std::string("\\|") : std::string(1, c);
      text += " |";
    }
    text += "\n";
  };
  add_line(titles_);
  text += "|";
  for (const Align align : aligns_) text += align == Align::kRight ? "---:|" : "---|";
  text += "\n";
  for (const auto& row : rows_) add_line(row);
  return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (true) {
    const size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end == std::string_view::npos ? end : end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : lower_case(trim(name.substr(0, 200)))) {
    if (c != '-' && c != '_' && c != ' ') plain += c;
  }
  return plain;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::string wrapped(std::string_view text, size_t width, std::string_view first_indent, std::string_view indent) {
  width = within_columns(width);
  std::string result, line(first_indent);
  bool is_empty = true;
  const auto end_line = [&] {
    result += line;
    line = indent;
    is_empty = true;
  };
  bool first = true;
  for (const std::string& own : split(text, '\n')) {
    if (!first) {
      end_line();
      result += '\n';
    }
    first = false;
    for (const std::string& word : split(own, ' ')) {
      if (!is_empty && line.size() + 1 + word.size() > width) {
        end_line();
        result += '\n';
      }
      if (!is_empty) line += ' ';
      line += word;
      is_empty = false;
    }
  }
  return result + line;
}

std::string nearest_names(std::string_view name, const std::vector<std::string>& names, size_t at_most) {
  constexpr size_t kLookedAt = 64;
  struct Ranked {
    size_t words, whole;
    std::string name;
  };
  std::vector<Ranked> ranked;
  const std::string wanted = lower_case(name.substr(0, kLookedAt));
  const std::vector<std::string> wanted_words = words_of(wanted);
  for (const std::string& candidate : names) {
    const std::string other = lower_case(std::string_view(candidate).substr(0, kLookedAt));
    if (!wanted.empty() && lower_case(candidate).find(wanted) != std::string::npos) {
      ranked.push_back({0, 0, candidate});
      continue;
    }
    const std::vector<std::string> other_words = words_of(other);
    size_t sum = 0;
    for (const std::string& word : wanted_words) {
      size_t nearest = word.size();
      for (const std::string& each : other_words) nearest = std::min(nearest, edit_distance(word, each));
      sum += nearest;
    }
    ranked.push_back({sum, edit_distance(wanted, other), candidate});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    return std::pair(a.words, a.whole) < std::pair(b.words, b.whole);
  });
  std::vector<std::string> best;
  for (size_t i = 0; i < ranked.size() && i < at_most; ++i) best.push_back(ranked[i].name);
  return join(best, ", ") + (ranked.size() > at_most ? ", ..." : "");
}

std::string human_number(double value) {
  if (!std::isfinite(value)) return "-";
  static constexpr std::array<const char*, 6> kSuffixes = {"", " k", " M", " G", " T", " P"};
  size_t step = 0;
  double scaled = value;
  while (std::abs(scaled) >= 999.5 && step + 1 < kSuffixes.size()) {
    scaled /= 1000;
    ++step;
  }
  return fmt::format("{}{}", significant(scaled, 3), kSuffixes[step]);
}

namespace {

// Seconds of more digits nobody reads.
constexpr double kDay_s = 86400, kManyDays_s = 3 * kDay_s;

}  // namespace

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  const double magnitude = std::abs(seconds);
  if (magnitude >= kManyDays_s) return fmt::format("{:.{}f} d", seconds / kDay_s, magnitude < 100 * kDay_s ? 1 : 0);
  if (magnitude >= 100) return fmt::format("{:.0f} s", seconds);
  if (magnitude >= 0.9995 || magnitude == 0) return fmt::format("{} s", significant(seconds, 3));
  if (magnitude >= 0.9995e-3) return fmt::format("{} ms", significant(seconds * 1e3, 3));
  if (magnitude >= 0.9995e-6) return fmt::format("{} us", significant(seconds * 1e6, 3));
  return fmt::format("{} ns", significant(seconds * 1e9, 3));
}

namespace {

struct ColumnUnit {
  double size;
  double from;  // what a column's longest value is at least, in the base unit
  const char* name;
};

constexpr ColumnUnit kSecondsUnits[] = {
    {kDay_s, kManyDays_s, "d"}, {1, 0.9995, "s"}, {1e-3, 0.9995e-3, "ms"}, {1e-6, 0.9995e-6, "us"}, {1e-9, 0, "ns"}};

// In one of `units`, largest first, the last from 0 on. A 0 is "0" where it `counts`, else missing.
std::vector<std::string> column_in_one_unit(const std::vector<double>& values, std::span<const ColumnUnit> units,
                                            bool zero_counts) {
  const auto shows_digits = [](double value) { return std::isfinite(value) && value > 0; };
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const double value : values) {
    if (!shows_digits(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  const bool any = most > 0;
  // Zeros alone have no size to choose a unit by.
  const auto base = std::find_if(units.begin(), units.end(), [](const ColumnUnit& unit) { return unit.size == 1; });
  const ColumnUnit& unit =
      any ? *std::find_if(units.begin(), units.end() - 1, [&](const ColumnUnit& each) { return most >= each.from; })
          : *base;
  // Rounded to three digits first: 0.9996 shows as 1.00.
  const auto magnitude = [&](double value) {
    return static_cast<int>(std::floor(std::log10(value / unit.size * (1 + 5e-4))));
  };
  const int decimals = any ? std::max(0, std::min(2 - magnitude(least), 4 - std::max(0, magnitude(most)))) : 0;
  const double step = std::pow(10, -decimals);
  std::vector<std::string> cells;
  for (const double value : values) {
    const double scaled = value / unit.size;
    if (zero_counts && value == 0) {
      cells.push_back(fmt::format("0 {}", unit.name));
    } else if (!shows_digits(value)) {
      cells.emplace_back("-");
    } else if (scaled < step / 2) {
      cells.push_back(fmt::format("<{:.{}f} {}", step, decimals, unit.name));
    } else {
      cells.push_back(fmt::format("{:.{}f} {}", scaled, decimals, unit.name));
    }
  }
  return cells;
}

}  // namespace

std::vector<std::string> seconds_column(const std::vector<double>& times_s) {
  return column_in_one_unit(times_s, kSecondsUnits, false);
}

std::vector<std::string> spread_seconds_column(const std::vector<double>& times_s) {
  constexpr double kMostApart = 100;  // five digits of the longest are three of the shortest
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const double time_s : times_s) {
    if (!std::isfinite(time_s) || !(time_s > 0)) continue;
    least = std::min(least, time_s);
    most = std::max(most, time_s);
  }
  if (most < kMostApart * least) return column_in_one_unit(times_s, kSecondsUnits, true);
  std::vector<std::string> cells;
  cells.reserve(times_s.size());
  for (const double time_s : times_s) cells.push_back(column_in_one_unit({time_s}, kSecondsUnits, true).front());
  return cells;
}

std::vector<std::string> duration_column(const std::vector<double>& durations_s) {
  constexpr ColumnUnit kUnits[] = {{kDay_s, kManyDays_s, "d"}, {3600, 7200, "h"}, {60, 120, "min"}, {1, 0, "s"}};
  return column_in_one_unit(durations_s, kUnits, true);
}

std::vector<std::string> energy_column(const std::vector<double>& energies_joules) {
  constexpr ColumnUnit kUnits[] = {
      {1e12, 0.9995e12, "TJ"}, {1e9, 0.9995e9, "GJ"}, {1e6, 0.9995e6, "MJ"}, {1e3, 0.9995e3, "kJ"}, {1, 0, "J"}};
  return column_in_one_unit(energies_joules, kUnits, true);
}

std::string human_bytes(double bytes) {
  if (!std::isfinite(bytes)) return "-";
  static constexpr std::array<const char*, 5> kSuffixes = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t step = 0;
  while (std::abs(bytes) >= 1024 && step + 1 < kSuffixes.size()) {
    bytes /= 1024;
    ++step;
  }
  return fmt::format("{:.{}f} {}", bytes, step == 0 || bytes >= 100 ? 0 : 1, kSuffixes[step]);
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return result;
}

std::string signal_text(int number) {
  const char* description = sigdescr_np(number);
  return description == nullptr ? std::to_string(number) : fmt::format("{} ({})", number, description);
}

}  // namespace perfcast
