#pragma once
// Cells of a table of results, read column by column; the first mistake is kept and told at the end.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "base/csv.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::ai {

class ResultColumns {
 public:
  explicit ResultColumns(const CsvTable& table) : table_(table) {}

  using Column = std::optional<size_t>;
  Column need(std::string_view name) {
    const auto column = table_.column(name);
    if (column) return *column;
    if (!mistake_) mistake_ = column.error();
    return std::nullopt;
  }
  Column find(std::string_view name) const { return table_.find_column(name); }

  // Empty where the column isn't there. What can't be shown is replaced, what is too long for a name is cut.
  std::string text(size_t row, Column column) const {
    constexpr size_t kLongestName = 200;
    return column ? printable(trim(table_.cell(row, *column)).substr(0, kLongestName)) : std::string();
  }
  // kUnknown where it is blank, not above 0, or the column isn't there.
  double positive(size_t row, Column column) {
    if (!column) return kUnknown;
    const auto number = table_.number(row, *column);
    if (!number) {
      if (!mistake_) mistake_ = number.error();
      return kUnknown;
    }
    return *number && **number > 0 ? **number : kUnknown;
  }
  // A whole number from 1 to a million; submissions also write "N/A", "(8,4)" and 0.
  std::optional<int64_t> count(size_t row, Column column) const {
    constexpr double kMost = 1e6;
    if (!column) return std::nullopt;
    const auto value = parse_number(trim(table_.cell(row, *column)));
    if (!value || *value < 1 || *value > kMost || *value != std::floor(*value)) return std::nullopt;
    return static_cast<int64_t>(*value);
  }
  Status finish() const { return mistake_ ? Status(*mistake_) : Status(); }

 private:
  const CsvTable& table_;
  std::optional<Error> mistake_;
};

}  // namespace perfcast::ai
