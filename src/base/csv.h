#pragma once
// CSV (RFC 4180: quotes, embedded newlines, CRLF) from outside, with the line of what was wrong.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

// A table held in memory. Cells are text; numbers are read on demand.
class CsvTable {
 public:
  // The first record names the columns; names must be unique, every record must have as many cells.
  static Result<CsvTable> parse(std::string_view text, const std::string& source, char separator = ',');

  // A table of people or of other tools: columns separated by commas, semicolons, tabs or bars, by what the first line
  // has most of; numbers of whatever style (number_style.h), which cells then hold as programs write them. Where the
  // style can't be told, cells stay as they are, and number() says why.
  // `separator`: where it is known.
  static Result<CsvTable> parse_any_form(std::string_view text, const std::string& source,
                                         std::optional<char> separator = std::nullopt);
  // How it was read where that isn't plain: "columns separated by semicolons; decimal commas". Empty: as it stands.
  const std::string& form() const { return form_; }

  size_t rows() const { return lines_.size(); }
  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<size_t> find_column(std::string_view name) const;
  // Error "missing-column" lists the nearest names that exist.
  Result<size_t> column(std::string_view name) const;

  std::string_view cell(size_t row, size_t column) const { return cells_[row * columns_.size() + column]; }
  // Blank: nullopt. Anything but a finite number: Error "bad-number" with file and line.
  Result<std::optional<double>> number(size_t row, size_t column) const;
  size_t line(size_t row) const { return lines_[row]; }
  std::string where(size_t row) const;

 private:
  void use_number_style();

  std::string source_;
  std::string form_;
  std::string number_problem_;  // why numbers that aren't plain stay as they are
  std::vector<std::string> columns_;
  std::vector<std::string> cells_;
  std::vector<size_t> lines_;
};

// The whole text must be a finite decimal number.
std::optional<double> parse_number(std::string_view text);

// Quoted where the text holds a separator, quote or line break.
std::string csv_cell(const std::string& text);
// One line, RFC 4180.
std::string csv_line(const std::vector<std::string>& cells);
std::string csv_number(double value);  // six significant digits; empty where not a number

}  // namespace perfcast
