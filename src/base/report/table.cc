#include "base/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/csv.h"
#include "base/figure/svg_canvas.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr size_t kLongText = 60;  // bytes; on pages it is broken into lines
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Puts `value` under "a.b" as b in an object a.
void put(Json& object, const std::string& name, Json value) {
  const size_t dot = name.find('.');
  if (dot == std::string::npos) {
    object[name] = std::move(value);
  } else {
    put(object[name.substr(0, dot)], name.substr(dot + 1), std::move(value));
  }
}

Json json_of(const ReportValue& value) {
  struct Visitor {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(std::nullptr_t) const { return nullptr; }
    Json operator()(bool yes) const { return yes; }
    Json operator()(int64_t count) const { return count; }
    Json operator()(uint64_t count) const { return count; }
    Json operator()(double number) const { return number; }
    Json operator()(const std::string& text) const { return text; }
    Json operator()(const std::vector<std::string>& list) const { return list; }
    Json operator()(const ValueRange& range) const { return Json::array({range.lower, range.upper}); }
  };
  return std::visit(Visitor(), value.get());
}

std::string csv_of(const ReportValue& value, const CsvStyle& style) {
  struct Visitor {
    const CsvStyle& style;
    std::string number_text(double number) const {
      return style.digits == 0 ? fmt::format("{}", number) : fmt::format("{:.{}g}", number, style.digits);
    }
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(std::nullptr_t) const { return ""; }
    std::string operator()(bool yes) const { return yes ? style.yes : style.no; }
    std::string operator()(int64_t count) const { return std::to_string(count); }
    std::string operator()(uint64_t count) const { return std::to_string(count); }
    std::string operator()(double number) const { return number_text(number); }
    std::string operator()(const std::string& text) const { return csv_cell(text); }
    std::string operator()(const std::vector<std::string>& list) const { return csv_cell(join(list, ", ")); }
    std::string operator()(const ValueRange& range) const {
      return number_text(range.lower) + " " + number_text(range.upper);
    }
  };
  return std::visit(Visitor{style}, value.get());
}

// Numbers of a column, both ends of ranges one after the other.
std::vector<std::string> numbers_for_people(const ReportColumn& column, const std::vector<double>& numbers) {
  switch (column.quantity) {
    case Quantity::kSeconds:
      return seconds_column(numbers);
    case Quantity::kSpreadSeconds:
      return spread_seconds_column(numbers);
    case Quantity::kDuration:
      return duration_column(numbers);
    case Quantity::kJoules:
      return energy_column(numbers);
    default:
      break;
  }
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (const double number : numbers) {
    if (!std::isfinite(number)) {
      texts.emplace_back("-");
    } else if (column.quantity == Quantity::kCount) {
      texts.push_back(fmt::format("{:.0f}", number));
    } else if (column.quantity == Quantity::kHuman) {
      texts.push_back(human_number(number));
    } else if (column.quantity == Quantity::kShare) {
      texts.push_back(percent(number, column.digits));
    } else if (column.quantity == Quantity::kBytes) {
      texts.push_back(human_bytes(number));
    } else if (column.quantity == Quantity::kMoney) {
      texts.push_back(money_text(number));
    } else {
      texts.push_back(fmt::format("{:.{}f}", number, column.digits));
    }
  }
  return texts;
}

bool is_something(const std::string& text) { return !text.empty() && text != "-"; }

bool says_something(const ReportValue& value) {
  const auto* text = std::get_if<std::string>(&value.get());
  return text != nullptr ? is_something(*text) : value.is_known();
}

bool is_shown(const ReportTable& table, const ReportColumn& column) {
  if (column.title.empty()) return false;
  if (table.shows_unknown || column.cells.empty()) return true;
  if (!column.words.empty()) return std::ranges::any_of(column.words, is_something);
  return std::ranges::any_of(column.cells, says_something);
}

TextTable::Align align_of(const ReportColumn& column) {
  return column.quantity == Quantity::kText || column.quantity == Quantity::kYes ? TextTable::Align::kLeft
                                                                                 : TextTable::Align::kRight;
}

}  // namespace

double ReportValue::number() const {
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  if (const auto* count = std::get_if<int64_t>(&value_)) return static_cast<double>(*count);
  if (const auto* count = std::get_if<uint64_t>(&value_)) return static_cast<double>(*count);
  return kNaN;
}

std::vector<std::string> cells_for_people(const ReportColumn& column) {
  std::vector<std::string> cells;
  if (!column.words.empty()) {
    for (const std::string& text : column.words) cells.push_back(printable(text));
    return cells;
  }
  // Every number of the column, so that they share a unit.
  std::vector<double> numbers;
  for (const ReportValue& cell : column.cells) {
    const auto* range = std::get_if<ValueRange>(&cell.get());
    numbers.push_back(range != nullptr ? range->lower : cell.number());
    if (range != nullptr) numbers.push_back(range->upper);
  }
  const std::vector<std::string> texts = numbers_for_people(column, numbers);
  size_t at = 0;
  for (const ReportValue& cell : column.cells) {
    if (const auto* text = std::get_if<std::string>(&cell.get())) {
      cells.push_back(printable(*text));
      ++at;
    } else if (const auto* list = std::get_if<std::vector<std::string>>(&cell.get())) {
      cells.push_back(printable(join(*list, ", ")));
      ++at;
    } else if (const auto* yes = std::get_if<bool>(&cell.get())) {
      cells.emplace_back(*yes ? "yes" : "no");
      ++at;
    } else if (std::holds_alternative<ValueRange>(cell.get())) {
      cells.push_back(texts[at] + " .. " + texts[at + 1]);
      at += 2;
    } else {
      cells.push_back(cell.is_known() ? texts[at] : "-");
      ++at;
    }
  }
  return cells;
}

ReportColumn& ReportTable::column(std::string_view name) {
  const auto found = std::ranges::find_if(
      columns, [&](const ReportColumn& column) { return name == (column.name.empty() ? column.title : column.name); });
  if (found == columns.end()) throw std::logic_error("a report has no column " + std::string(name));
  return *found;
}

void share_unit(ReportTable& table, std::string_view name) {
  ReportColumn& values = table.column(name);
  const size_t next = static_cast<size_t>(&values - table.columns.data()) + 1;
  if (next == table.columns.size()) throw std::logic_error("a report has no column after " + std::string(name));
  ReportColumn& intervals = table.columns[next];
  if (std::ranges::none_of(values.cells, says_something)) return;
  ReportColumn both = values;
  both.cells.insert(both.cells.end(), intervals.cells.begin(), intervals.cells.end());
  const std::vector<std::string> words = cells_for_people(both);
  const auto middle = words.begin() + static_cast<std::ptrdiff_t>(values.cells.size());
  values.words = {words.begin(), middle};
  intervals.words = {middle, words.end()};
  for (std::string& word : intervals.words) {
    const size_t between = word.find(" .. "), unit = word.find(' ');
    if (unit < between && word.ends_with(word.substr(unit, between - unit))) word.erase(unit, between - unit);
  }
}

void keep_rows(ReportTable& table, const std::vector<size_t>& rows) {
  for (ReportColumn& column : table.columns) {
    ReportColumn all = column;
    if (all.words.empty() && std::ranges::any_of(all.cells, says_something)) all.words = cells_for_people(all);
    column.cells.clear();
    column.words.clear();
    for (const size_t row : rows) {
      column.cells.push_back(all.cells[row]);
      if (!all.words.empty()) column.words.push_back(all.words[row]);
    }
  }
}

ReportTable picked(const ReportTable& table, const std::vector<std::string_view>& names) {
  ReportTable all = table, result = table;
  result.columns.clear();
  for (const std::string_view name : names) result.columns.push_back(all.column(name));
  return result;
}

Json rows_json(const ReportTable& table) {
  Json rows = Json::array();
  for (size_t r = 0; r < table.rows(); ++r) {
    Json row = Json::object();
    for (const ReportColumn& column : table.columns) {
      if (!column.name.empty() && !column.cells[r].is_absent()) put(row, column.name, json_of(column.cells[r]));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string rows_csv(const ReportTable& table, const CsvStyle& style) {
  std::vector<std::string> cells;
  for (const ReportColumn& column : table.columns) {
    if (!column.name.empty()) cells.push_back(csv_cell(column.name));
  }
  std::string csv = join(cells, ",") + "\n";
  for (size_t r = 0; r < table.rows(); ++r) {
    cells.clear();
    for (const ReportColumn& column : table.columns) {
      if (!column.name.empty()) cells.push_back(csv_of(column.cells[r], style));
    }
    csv += join(cells, ",") + "\n";
  }
  return csv;
}

std::string rows_text(const ReportTable& table, const TextStyle& style) {
  TextTable text;
  const size_t shown = style.most_rows == 0 ? table.rows() : std::min(style.most_rows, table.rows());
  std::vector<std::vector<std::string>> rows(shown);
  for (const ReportColumn& column : table.columns) {
    if (!is_shown(table, column)) continue;
    ReportColumn part = column;
    part.cells.resize(shown);
    if (!part.words.empty()) part.words.resize(shown);
    if (shown > 0 && !is_shown(table, part)) continue;
    text.add_column(column.title == " " ? "" : column.title, align_of(column));
    std::vector<std::string> cells = cells_for_people(part);
    for (size_t r = 0; r < shown; ++r) rows[r].push_back(std::move(cells[r]));
  }
  for (auto& row : rows) text.add_row(std::move(row));
  std::string result = style.is_markdown ? text.to_markdown() : text.to_text(style.width);
  if (table.rows() > shown) result += fmt::format("... {} rows more: --all\n", table.rows() - shown);
  return result;
}

std::string rows_html(const ReportTable& table) {
  std::string html = "<div class=\"wide\"><table>\n";
  if (!table.caption.empty()) html += "<caption>" + escape_html(table.caption) + "</caption>\n";
  html += "<thead><tr>";
  std::vector<std::vector<std::string>> columns;
  std::vector<bool> is_number;
  for (const ReportColumn& column : table.columns) {
    if (!is_shown(table, column)) continue;
    const bool left = align_of(column) == TextTable::Align::kLeft;
    html += fmt::format("<th scope=\"col\"{}{}>{}</th>", left ? " class=\"name\"" : "",
                        column.meaning.empty() ? "" : " title=\"" + escape_html(column.meaning) + "\"",
                        escape_html(column.title));
    columns.push_back(cells_for_people(column));
    is_number.push_back(!left);
  }
  html += "</tr></thead>\n<tbody>\n";
  for (size_t r = 0; r < table.rows(); ++r) {
    const bool is_baseline = !columns.empty() && std::ranges::count(table.baselines, columns.front()[r]) > 0;
    html += is_baseline ? "<tr class=\"baseline\">" : "<tr>";
    for (size_t c = 0; c < columns.size(); ++c) {
      html += is_number[c] ? "<td>" : columns[c][r].size() > kLongText ? "<td class=\"text\">" : "<td class=\"name\">";
      html += escape_html(columns[c][r]) + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string percent(double share, int decimals) {
  return std::isfinite(share) ? fmt::format("{:.{}f}%", 100 * share, decimals) : "-";
}

std::string money_text(double value, int digits) {
  constexpr int kMostDecimals = 15;
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const int decimals = digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  return fmt::format("{:.{}f}", value, std::clamp(decimals, 2, kMostDecimals));
}

}  // namespace perfcast
