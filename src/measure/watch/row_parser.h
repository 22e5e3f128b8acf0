#pragma once
// Lines of text to rows: CSV, or one flat JSON object a line. Which of the two the first line says, where nobody does.
//
// What isn't as it should be is counted in the block and never ends the stream:
//   a cell that is empty, null, NaN, infinite or no number is absent; a column that never had a number is no metric
//   a row with fewer cells than there are columns lacks the last ones; further cells are left out
//   a line that is no row (no JSON object, binary) is left out
//   nested objects are columns "outer.inner", arrays are left out

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/watch/row_block.h"

namespace perfcast::measure {

enum class StreamFormat { kDetect, kCsv, kJsonLines };

struct ParserOptions {
  StreamFormat format = StreamFormat::kDetect;
  std::string time_column = {};   // empty: time_s, timestamp, time, whichever is there
  std::string group_column = {};  // empty: all rows are of one group
  double interval_s = 1;          // between rows, where there is no time column
};

class RowParser {
 public:
  virtual ~RowParser() = default;
  RowParser(const RowParser&) = delete;
  RowParser& operator=(const RowParser&) = delete;
  // One line without its end. Error: a header that can't be used ("missing-column", "duplicate-column").
  virtual Status line(std::string_view line, RowBlock& block) = 0;
  // What a parser must have seen to go on in the middle of a stream: CSV's header line.
  virtual std::string header() const { return ""; }

 protected:
  explicit RowParser(const ParserOptions& options) : options_(options) {}

  // Of the cell of the time column; NaN where it is none.
  double time_of(std::string_view text, bool is_text);
  double time_of(double number);
  void finish_row(RowBlock& block, double time_s, size_t group);
  bool is_time_name(std::string_view name) const;
  // Of a column of times; the least is the one to take.
  static size_t time_rank(std::string_view name);

  ParserOptions options_;
  bool has_time_ = false;
  double time_unit_s_ = 0;  // 0: not known yet
};

std::unique_ptr<RowParser> make_csv_parser(const ParserOptions& options);
std::unique_ptr<RowParser> make_json_parser(const ParserOptions& options);
// `format` kDetect: by the line, which is the stream's first that isn't empty.
std::unique_ptr<RowParser> make_parser(const ParserOptions& options, std::string_view line);

}  // namespace perfcast::measure
