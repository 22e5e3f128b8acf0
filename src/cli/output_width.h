#pragma once
// How wide the lines of the output may be, in columns.

#include <cstddef>
#include <string>

namespace perfcast::cli {

inline constexpr size_t kLeastColumns = 60, kUsualColumns = 100;

// COLUMNS where it is set, else the width of the terminal that standard output is; 0, no limit, where it is none.
// Never fewer than kLeastColumns.
size_t output_columns();

// Of running text: output_columns() up to `most`, and `most` where there is no limit.
size_t prose_columns(size_t most = kUsualColumns);

// Lines that are longer than output_columns() are broken between words and go on indented.
std::string fitted(const std::string& text);
// The same for this width (0: no limit). A line "   label    text" goes on below its text; a word that is longer than
// the rest of a line is broken, too.
std::string fitted(const std::string& text, size_t columns);

}  // namespace perfcast::cli
