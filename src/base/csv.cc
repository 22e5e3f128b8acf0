#include "base/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "base/number_style.h"
#include "base/text.h"

namespace perfcast {

std::optional<double> parse_number(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + csv_cell(cells[i]);
  return line + "\n";
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : ""; }

namespace {

constexpr std::pair<char, const char*> kSeparators[] = {
    {',', "commas"}, {';', "semicolons"}, {'\t', "tabs"}, {'|', "bars"}};

// How often each separator stands in the first line, outside of quotes.
size_t count_in_first_line(std::string_view text, char separator) {
  size_t count = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && c == '\n') break;
    count += !quoted && c == separator ? 1 : 0;
  }
  return count;
}

// Of a table of one column whose name holds what other programs separate columns by; else empty.
std::string separated_otherwise(const std::vector<std::string>& columns) {
  if (columns.size() != 1) return "";
  for (const auto& [character, name] : kSeparators) {
    if (columns[0].find(character) != std::string::npos)
      return fmt::format(": columns look separated by {}, where commas are needed, and points in numbers", name);
  }
  return "";
}

}  // namespace

Result<CsvTable> CsvTable::parse_any_form(std::string_view text, const std::string& source,
                                          std::optional<char> separator) {
  const std::string_view first = text.substr(std::min(text.find_first_not_of("\xEF\xBB\xBF\r\n"), text.size()));
  const auto* const best =
      std::max_element(std::begin(kSeparators), std::end(kSeparators), [&](const auto& one, const auto& other) {
        return count_in_first_line(first, one.first) < count_in_first_line(first, other.first);
      });
  auto table = parse(text, source, separator.value_or(best->first));
  if (!table) return table;
  if (!separator && best->first != ',') table->form_ = std::string("columns separated by ") + best->second;
  table->use_number_style();
  return table;
}

void CsvTable::use_number_style() {
  // Most tables are plain, and large ones are to be read fast.
  const bool is_plain = std::none_of(cells_.begin(), cells_.end(), [](const std::string& text) {
    return text.find_first_of("0123456789") != std::string::npos &&
           (text.find_first_of(",' \xC2\xE2\xA0") != std::string::npos ||
            std::count(text.begin(), text.end(), '.') > 1);
  });
  if (is_plain) return;
  const size_t width = columns_.size();
  std::vector<size_t> numeric;
  NumberEvidence evidence;
  for (size_t column = 0; column < width; ++column) {
    size_t filled = 0, numbers = 0;
    for (size_t row = 0; row < rows(); ++row) {
      const std::string_view text = trim(cell(row, column));
      filled += text.empty() ? 0 : 1;
      numbers += looks_like_number(text) ? 1 : 0;
    }
    if (numbers == 0 || 2 * numbers < filled) continue;
    numeric.push_back(column);
    for (size_t row = 0; row < rows(); ++row) evidence.see(cell(row, column));
  }
  const auto style = evidence.decide(source_);
  if (!style) {
    number_problem_ = style.error().message;
    return;
  }
  if (style->is_plain()) return;
  form_ += (form_.empty() ? "" : "; ") + describe(*style);
  for (const size_t column : numeric) {
    for (size_t row = 0; row < rows(); ++row) {
      std::string& text = cells_[row * width + column];
      if (auto plain = plain_number(text, *style)) text = std::move(*plain);
    }
  }
}

Result<CsvTable> CsvTable::parse(std::string_view text, const std::string& source, char separator) {
  CsvTable table;
  table.source_ = source;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  size_t line = 1;
  size_t at = 0;
  std::vector<std::string> record;
  while (at < text.size()) {
    const size_t first_line = line;
    record.clear();
    bool record_open = true;
    while (record_open) {
      std::string cell;
      if (at < text.size() && text[at] == '"') {
        ++at;
        bool closed = false;
        while (at < text.size()) {
          const char c = text[at++];
          if (c == '\n') ++line;
          if (c != '"') {
            cell += c;
          } else if (at < text.size() && text[at] == '"') {
            cell += '"';
            ++at;
          } else {
            closed = true;
            break;
          }
        }
        if (!closed) {
          return Error{"bad-csv", "a quoted cell is never closed", source + ":" + std::to_string(first_line),
                       "a closing quote"};
        }
        if (at < text.size() && text[at] != separator && text[at] != '\n' && text[at] != '\r') {
          return Error{"bad-csv", "text follows a closing quote", source + ":" + std::to_string(line),
                       "a separator or the end of the line"};
        }
      } else {
        const size_t start = at;
        while (at < text.size() && text[at] != separator && text[at] != '\n' && text[at] != '\r') ++at;
        cell = std::string(text.substr(start, at - start));
      }
      record.push_back(std::move(cell));
      if (at < text.size() && text[at] == separator) {
        ++at;
      } else {
        if (at < text.size() && text[at] == '\r') ++at;
        if (at < text.size() && text[at] == '\n') {
          ++at;
          ++line;
        }
        record_open = false;
      }
    }
    if (record.size() == 1 && record[0].empty()) continue;  // an empty line
    if (table.columns_.empty()) {
      std::set<std::string> seen;
      for (const std::string& name : record) {
        if (!seen.insert(name).second) {
          return Error{"bad-csv", "the column '" + name + "' is named twice", source + ":1", "unique column names"};
        }
      }
      table.columns_ = record;
      continue;
    }
    if (record.size() != table.columns_.size()) {
      return Error{"bad-csv", "found " + std::to_string(record.size()) + " cells" + separated_otherwise(table.columns_),
                   source + ":" + std::to_string(first_line), std::to_string(table.columns_.size()) + " cells"};
    }
    for (std::string& cell : record) table.cells_.push_back(std::move(cell));
    table.lines_.push_back(first_line);
  }
  if (table.columns_.empty()) return Error{"bad-csv", "the file is empty", source, "a line of column names"};
  return table;
}

std::optional<size_t> CsvTable::find_column(std::string_view name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<size_t>(found - columns_.begin());
}

Result<size_t> CsvTable::column(std::string_view name) const {
  if (auto found = find_column(name)) return *found;
  return Error{"missing-column",
               fmt::format("there is no column '{}' among {}", name, printable(nearest_names(name, columns_))) +
                   separated_otherwise(columns_),
               source_ + ":1", fmt::format("a column '{}'", name)};
}

std::string CsvTable::where(size_t row) const { return source_ + ":" + std::to_string(lines_[row]); }

Result<std::optional<double>> CsvTable::number(size_t row, size_t column) const {
  const std::string_view text = cell(row, column);
  if (text.find_first_not_of(" \t") == std::string_view::npos) return std::optional<double>();
  if (const auto value = parse_number(text)) return std::optional<double>(*value);
  return Error{"bad-number",
               "'" + std::string(text.substr(0, 40)) + "' in column '" + columns_[column] + "' is no number" +
                   (number_problem_.empty() ? "" : ": " + number_problem_),
               where(row), "a finite number, or nothing where it was not measured"};
}

}  // namespace perfcast
