#include "cli/output_width.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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

std::string fitted(const std::string& text) {
  const size_t columns = output_columns();
  if (columns == 0) return text;
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) {
    if (line.size() <= columns) continue;
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) {
      line.clear();
      continue;
    }
    const std::string indent(begin, ' '), further(begin + 2, ' ');
    line = wrapped(trim(line), columns, indent, further);
  }
  return join(lines, "\n");
}

}  // namespace perfcast::cli
