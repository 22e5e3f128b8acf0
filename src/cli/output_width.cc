#include "cli/output_width.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast::cli {

size_t output_columns() {
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    const auto wanted = parse_number(columns);
    if (wanted && *wanted >= 1 && *wanted <= 1e6) return std::max(static_cast<size_t>(*wanted), kLeastColumns);
  }
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 0;
  return std::max<size_t>(size.ws_col, kLeastColumns);
}

size_t prose_columns(size_t most) {
  const size_t columns = output_columns();
  return columns == 0 ? most : std::min(columns, most);
}

namespace {

constexpr size_t kMostLabel = 20;

// Where a line's text begins that has a label before it: behind the first gap of two spaces.
size_t text_column(std::string_view line, size_t begin) {
  const size_t gap = line.find("  ", begin);
  const size_t text = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  return begin > 0 && text != std::string_view::npos && text <= kMostLabel ? text : begin + 2;
}

// Bytes of one character stay together.
std::string with_short_words(const std::string& line, size_t most) {
  std::string result;
  size_t in_word = 0;
  for (const char c : line) {
    const bool is_within = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (in_word >= most && c != ' ' && !is_within) {
      result += ' ';
      in_word = 0;
    }
    result += c;
    in_word = c == ' ' ? 0 : in_word + 1;
  }
  return result;
}

}  // namespace

std::string fitted(const std::string& text, size_t columns) {
  if (columns == 0) return text;
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) {
    if (line.size() <= columns) continue;
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) {
      line.clear();
      continue;
    }
    const size_t further = std::min(text_column(line, begin), columns / 2);
    // The label and the gap behind it stay as they are.
    const bool has_label = further > begin + 2;
    const std::string first = line.substr(0, has_label ? further : begin);
    const std::string rest = line.substr(first.size());
    line = wrapped(with_short_words(rest, columns - further), columns, first, std::string(further, ' '));
  }
  return join(lines, "\n");
}

std::string fitted(const std::string& text) { return fitted(text, output_columns()); }

}  // namespace perfcast::cli
