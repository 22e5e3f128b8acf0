#pragma once
// A result as typed columns, declared once: what machines read (JSON, CSV) and what people read (text, Markdown, HTML)
// come from the same declaration.
//
//   ReportTable table = table_of<Row>("rows", rows, {
//       {"device", "device", Quantity::kText, [](const Row& row) { return row.device; }},
//       {"time_s", "time", Quantity::kSeconds, [](const Row& row) { return row.time_s; }}});
//   json["rows"] = rows_json(table);
//
// A value that isn't known is std::monostate, an empty optional, NaN or infinite: absent in JSON, empty in CSV, "-" for
// people;
// nullptr is one that JSON has as null. A column that no row knows, or where every text is empty or "-", is left out
// for people.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_fwd.h"

namespace perfcast {

// Two ends of an interval. People read "0.55 .. 0.68" in the units of the column.
struct ValueRange {
  double lower = 0, upper = 0;
};

// What a cell holds.
class ReportValue {
 public:
  ReportValue() = default;
  ReportValue(std::nullptr_t) : value_(nullptr) {}
  ReportValue(std::string text) : value_(std::move(text)) {}
  ReportValue(std::string_view text) : value_(std::string(text)) {}
  ReportValue(const char* text) : value_(std::string(text)) {}
  ReportValue(std::vector<std::string> list) : value_(std::move(list)) {}  // an array in JSON, else "a, b"
  ReportValue(ValueRange range) {
    if (std::isfinite(range.lower) && std::isfinite(range.upper)) value_ = range;
  }
  ReportValue(bool yes) : value_(yes) {}
  template <typename Number>
  requires(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>) ReportValue(Number number) {
    if constexpr (std::is_floating_point_v<Number>) {
      if (std::isfinite(number)) value_ = static_cast<double>(number);
    } else if (std::in_range<int64_t>(number)) {
      value_ = static_cast<int64_t>(number);
    } else {
      value_ = static_cast<uint64_t>(number);
    }
  }
  template <typename T>
  ReportValue(const std::optional<T>& value) {
    if (value) *this = ReportValue(*value);
  }

  bool is_known() const { return !is_absent() && !std::holds_alternative<std::nullptr_t>(value_); }
  bool is_absent() const { return std::holds_alternative<std::monostate>(value_); }
  using Variant = std::variant<std::monostate, std::nullptr_t, bool, int64_t, uint64_t, double, std::string,
                               std::vector<std::string>, ValueRange>;
  const Variant& get() const { return value_; }  // uint64_t: only what int64_t can't hold
  // As a number; NaN where it is none.
  double number() const;

 private:
  Variant value_;
};

// A text that isn't known where it is empty.
inline ReportValue unless_empty(const std::string& text) { return text.empty() ? ReportValue() : ReportValue(text); }

// What a column's numbers are: how people read them. Machines read them as they are.
enum class Quantity {
  kText,
  kYes,            // "yes", "no"
  kCount,          // "1234"
  kNumber,         // with `digits` decimals
  kHuman,          // "1.23 M"
  kShare,          // 0.125 -> "12.5%", with `digits` decimals
  kSeconds,        // one unit in the column, for times of like size
  kSpreadSeconds,  // units of their own, for times that lie orders of magnitude apart
  kDuration,       // s, min, h or d
  kJoules,
  kBytes,
  kMoney,  // never "2.7e-05": as prices are written
};

// One column with its cells.
struct ReportColumn {
  std::string
      name;  // for machines, ends in its unit: "time_s"; "ttft_s.p50" is p50 in an object ttft_s; "": for people only
  std::string title;  // for people; "": for machines only; " ": none above the column
  Quantity quantity = Quantity::kText;
  int digits = 2;       // decimals of kNumber and kShare
  std::string meaning;  // a tooltip on pages
  std::vector<ReportValue> cells;
  std::vector<std::string> words = {};  // the cells for people, where they aren't made of the values
};

struct ReportTable {
  std::string caption;  // for people; may be empty
  std::vector<ReportColumn> columns;
  bool shows_unknown = false;               // people see columns that no row knows, too
  std::vector<std::string> baselines = {};  // names in the first column: their rows are set off on pages
  size_t rows() const { return columns.empty() ? 0 : columns.front().cells.size(); }
  // By its name, for people only by its title; it must be there.
  ReportColumn& column(std::string_view name);
};

// How one column is made of a row. A value that is text stays as it is written: {"", "gain", Quantity::kNumber, ...}
// may give "2.5x".
template <typename Row>
struct ColumnOf {
  using Value = std::function<ReportValue(const Row&)>;
  using Words = std::function<std::string(const Row&)>;  // for people, in the place of the value

  ColumnOf(std::string name_, std::string title_, Quantity quantity_, Value value_, int digits_ = 2,
           std::string meaning_ = {})
      : name(std::move(name_)),
        title(std::move(title_)),
        quantity(quantity_),
        value(std::move(value_)),
        digits(digits_),
        meaning(std::move(meaning_)) {}
  ColumnOf(std::string name_, std::string title_, Quantity quantity_, Value value_, Words words_,
           std::string meaning_ = {})
      : ColumnOf(std::move(name_), std::move(title_), quantity_, std::move(value_), 0, std::move(meaning_)) {
    words = std::move(words_);
  }

  std::string name, title;
  Quantity quantity;
  Value value;
  int digits;
  std::string meaning;
  Words words;
};

template <typename Row, typename Rows>
ReportTable table_of(std::string caption, const Rows& rows, const std::vector<ColumnOf<Row>>& columns) {
  ReportTable table;
  table.caption = std::move(caption);
  for (const ColumnOf<Row>& column : columns) {
    ReportColumn& added = table.columns.emplace_back(
        ReportColumn{column.name, column.title, column.quantity, column.digits, column.meaning, {}});
    for (const Row& row : rows) {
      added.cells.push_back(column.value(row));
      if (column.words) added.words.push_back(column.words(row));
    }
  }
  return table;
}

// The columns of these names (for people only: titles), in this order. Every name must be one of the table's.
ReportTable picked(const ReportTable& table, const std::vector<std::string_view>& names);

// An array of objects, a member for each named column whose value is known.
Json rows_json(const ReportTable& table);
struct CsvStyle {
  int digits = 0;  // of real numbers, significant ones; 0: as many as read back to the same value
  std::string yes = "1", no = "0";
};
// A header line and the rows of all named columns.
std::string rows_csv(const ReportTable& table, const CsvStyle& style = {});

struct TextStyle {
  size_t width = 0;      // of a line; 0: as long as they are
  size_t most_rows = 0;  // further ones are counted in a line below; 0: all
  bool is_markdown = false;
};
// The titled columns. Where a line would be longer than the width, long texts are broken into several lines; where that
// is not enough, columns are left out from the right and named below the table.
std::string rows_text(const ReportTable& table, const TextStyle& style = {});
// <table> with the caption.
std::string rows_html(const ReportTable& table);

// Settles the words of this column and of the next one, intervals of its values: these stand in the unit of the values,
// which is said once: "0.75 .. 3.00 s". Both columns must be there.
void share_unit(ReportTable& table, std::string_view name);
// These rows alone, in this order, in the units that all rows together have.
void keep_rows(ReportTable& table, const std::vector<size_t>& rows);

// Cells as people read them, of one column.
std::vector<std::string> cells_for_people(const ReportColumn& column);

// 0.125 -> "12.5%"; "-" where it isn't finite.
std::string percent(double share, int decimals = 1);
// 0.000027 -> "0.0000270", -1234.5 -> "-1234.50": so many significant digits, at least two decimals.
std::string money_text(double value, int digits = 3);

}  // namespace perfcast
