// CSV: the first line names the columns. A record is a line: quoted line breaks are none here.

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "base/unknown.h"
#include "measure/watch/fast_number.h"
#include "measure/watch/row_parser.h"

namespace perfcast::measure {
namespace {

constexpr size_t kNone = SIZE_MAX;
constexpr size_t kMostCells = 10000;

// One cell from `at` on, without its quotes; `at` behind its separator, or beyond the end where it was the last.
std::string take_quoted_cell(std::string_view line, size_t& at, char separator) {
  std::string cell;
  bool quoted = false;
  for (; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"') {
      if (quoted && at + 1 < line.size() && line[at + 1] == '"') {
        cell += c;
        ++at;
      } else {
        quoted = !quoted;
      }
    } else if (c == separator && !quoted) {
      break;
    } else {
      cell += c;
    }
  }
  ++at;
  return cell;
}

class CsvRowParser : public RowParser {
 public:
  explicit CsvRowParser(const ParserOptions& options) : RowParser(options) {}

  Status line(std::string_view line, RowBlock& block) override {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (columns_.empty()) return take_header(line);
    if (line == header_) return {};  // files that were put together
    if (line.find('\0') != std::string_view::npos) {
      ++block.counts.bad_lines;
      return {};
    }
    block.begin_row();
    time_s_ = kUnknown;
    group_ = options_.group_column.empty() ? block.group("") : kNone;
    const size_t cells = line.find('"') == std::string_view::npos ? plain_row(line, block) : quoted_row(line, block);
    if (cells == 1 && columns_.size() > 1) {
      ++block.counts.bad_lines;
      block.drop_row();
      return {};
    }
    if (cells < columns_.size()) ++block.counts.short_rows;
    if (cells > columns_.size()) ++block.counts.long_rows;
    if (group_ == kNone && !options_.group_column.empty() && cells <= group_column_) group_ = block.group("");
    finish_row(block, time_s_, group_);
    return {};
  }

  std::string header() const override { return header_; }

 private:
  struct Column {
    std::string name;
    size_t metric = kNone;  // of the block, once it had a number
    bool ignored = false;   // there are too many
    bool text = false;      // has had some, and no number yet
  };

  Status take_header(std::string_view line) {
    if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    header_ = line;
    for (const char separator : {',', ';', '\t'}) {
      if (std::count(line.begin(), line.end(), separator) > std::count(line.begin(), line.end(), separator_))
        separator_ = separator;
    }
    std::set<std::string> names;
    for (size_t at = 0; at <= line.size();) {
      const std::string name(trim(take_quoted_cell(line, at, separator_)));
      if (columns_.size() >= kMostCells) {
        return Error{"bad-header", "the first line has more than 10,000 cells", "line 1", "a line of column names"};
      }
      if (!name.empty() && !names.insert(name).second) {
        return Error{"duplicate-column", "two columns are called '" + printable(name) + "'", "line 1",
                     "names that differ"};
      }
      columns_.push_back({name});
    }
    return find_special_columns();
  }

  Status find_special_columns() {
    std::vector<std::string> names;
    for (const Column& column : columns_) names.push_back(printable(column.name));
    const auto find = [&](const std::string& name) {
      for (size_t c = 0; c < columns_.size(); ++c) {
        if (columns_[c].name == name) return c;
      }
      return kNone;
    };
    const auto require = [&](const std::string& name, const char* option, size_t& column) -> Status {
      column = find(name);
      if (column != kNone) return {};
      return Error{"missing-column", "the stream has no column '" + printable(name) + "'", option,
                   "one of: " + nearest_names(name, names)};
    };
    if (!options_.time_column.empty()) {
      if (Status found = require(options_.time_column, "--time", time_column_); !found) return found;
    }
    for (const char* name : {"time", "timestamp", "time_s"}) {
      if (options_.time_column.empty() && find(name) != kNone) time_column_ = find(name);
    }
    has_time_ = time_column_ != kNone;
    if (options_.group_column.empty()) return {};
    return require(options_.group_column, "--group", group_column_);
  }

  void take_cell(size_t c, std::string_view text, RowBlock& block) {
    if (c >= columns_.size()) return;
    if (c == time_column_) {
      time_s_ = time_of(text, false);
      return;
    }
    if (c == group_column_) {
      group_ = block.group(trim(text));
      return;
    }
    Column& column = columns_[c];
    double value = 0;
    if (text.empty()) {
      if (column.metric != kNone) ++block.counts.absent_cells;
      return;
    }
    if (!is_number(text, value)) {
      const bool blank = trim(text).empty();
      if (column.metric != kNone) {
        ++(blank ? block.counts.absent_cells : block.counts.bad_cells);
      } else if (!blank && !column.text) {
        column.text = true;
        block.note_text(column.name);
      }
      return;
    }
    put_number(column, value, block);
  }

  void put_number(Column& column, double value, RowBlock& block) {
    if (!std::isfinite(value)) {
      if (column.metric != kNone) ++block.counts.absent_cells;
      return;
    }
    if (column.metric == kNone) {
      if (column.ignored || column.name.empty()) return;
      column.metric = block.column(column.name);
      if (column.metric == RowBlock::kIgnored) {
        column.metric = kNone;
        column.ignored = true;
        return;
      }
    }
    block.set(column.metric, value);
  }

  size_t plain_row(std::string_view line, RowBlock& block) {
    const char* at = line.data();
    const char* const end = at + line.size();
    size_t c = 0;
    for (;; ++c) {
      // Most cells are numbers: their end is found by reading them.
      if (c < columns_.size() && c != time_column_ && c != group_column_ && columns_[c].metric != kNone) {
        double value = 0;
        const char* const behind = read_number(at, end, value);
        if (behind != nullptr && (behind == end || *behind == separator_)) {
          put_number(columns_[c], value, block);
          if (behind == end) return c + 1;
          at = behind + 1;
          continue;
        }
      }
      const char* const behind = std::find(at, end, separator_);
      take_cell(c, {at, static_cast<size_t>(behind - at)}, block);
      if (behind == end) return c + 1;
      at = behind + 1;
    }
  }

  size_t quoted_row(std::string_view line, RowBlock& block) {
    size_t c = 0;
    for (size_t at = 0; at <= line.size(); ++c) take_cell(c, take_quoted_cell(line, at, separator_), block);
    return c;
  }

  char separator_ = ',';
  std::string header_;
  std::vector<Column> columns_;
  size_t time_column_ = kNone, group_column_ = kNone;
  double time_s_ = 0;
  size_t group_ = 0;
};

}  // namespace

std::unique_ptr<RowParser> make_csv_parser(const ParserOptions& options) {
  return std::make_unique<CsvRowParser>(options);
}

}  // namespace perfcast::measure
