#pragma once
// Cells of one row of a table by the names of their columns.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast {

// Empty or absent where the column is, or where the cell is blank or no number.
class TableRow {
 public:
  TableRow(const CsvTable& table, size_t row) : table_(table), row_(row) {}
  std::string text(std::string_view column) const {
    const auto found = table_.find_column(column);
    return found ? std::string(trim(table_.cell(row_, *found))) : std::string();
  }
  std::optional<double> number(std::string_view column) const { return parse_number(text(column)); }
  std::optional<double> positive(std::string_view column) const {
    const auto value = number(column);
    return value && *value > 0 ? value : std::nullopt;
  }
  std::optional<int64_t> integer(std::string_view column) const {
    const auto value = number(column);
    if (!value || std::abs(*value) > 1e9 || *value != std::floor(*value)) return std::nullopt;
    return static_cast<int64_t>(*value);
  }

 private:
  const CsvTable& table_;
  size_t row_;
};

}  // namespace perfcast
