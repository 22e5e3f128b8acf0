#pragma once
// Rows of a stream on their way from a parser to the detectors: columns are found as they come, in bounded numbers.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace perfcast::measure {

// What a stream had that was not as it should be, and what became of it.
struct StreamCounts {
  uint64_t rows = 0;
  uint64_t bad_lines = 0;        // no row: left out
  uint64_t long_lines = 0;       // beyond the limit: left out
  uint64_t short_rows = 0;       // CSV: fewer cells than columns; the others are absent
  uint64_t long_rows = 0;        // CSV: more cells than columns; the others are left out
  uint64_t absent_cells = 0;     // empty, null, NaN, infinite
  uint64_t bad_cells = 0;        // of a metric, and no number: absent
  uint64_t untimed_rows = 0;     // without a time that can be read: at the time of the row before
  uint64_t assumed_times = 0;    // rows of a stream without times: an interval after the one before
  uint64_t backward_rows = 0;    // earlier than the row before: at the time of that
  uint64_t clocks_set_back = 0;  // 100 such rows in a row: the clock counts from there
  uint64_t equal_times = 0;      // as the row before
  uint64_t ignored_columns = 0;  // beyond the limit
  uint64_t ignored_groups = 0;   // rows of groups beyond the limit
  uint64_t restarts = 0;         // files that were cut or replaced
  uint64_t failed_reads = 0;     // of an endpoint
  uint64_t counter_resets = 0;
};

class RowBlock {
 public:
  explicit RowBlock(size_t most_columns, size_t most_groups) : most_columns_(most_columns), most_groups_(most_groups) {}

  static constexpr size_t kIgnored = SIZE_MAX;
  // Of a metric: a new one at the end, or kIgnored where there are too many.
  size_t column(std::string_view name);
  // Text stands where a metric could: said once of each column, whatever becomes of it.
  void note_text(std::string_view name);
  // Columns that had text before any number and have had none since: how many, and the names of some, shortened.
  size_t text_columns() const;
  std::vector<std::string> text_names() const;
  size_t group(std::string_view name);

  // A new row, all absent; its place may move with the next column.
  void begin_row();
  void set(size_t column, double value) { values_[(time_s_.size() - 1) * stride_ + column] = value; }
  void end_row(double time_s, size_t group) {
    time_s_.back() = time_s;
    group_.back() = static_cast<uint32_t>(group);
    ++counts.rows;
  }
  void drop_row();
  void clear();  // the rows

  size_t rows() const { return time_s_.size(); }
  size_t stride() const { return stride_; }
  double* times() { return time_s_.data(); }
  const std::vector<double>& time_s() const { return time_s_; }
  const std::vector<uint32_t>& groups() const { return group_; }
  const double* row(size_t r) const { return values_.data() + r * stride_; }
  const double* values() const { return values_.data(); }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& group_names() const { return group_names_; }

  StreamCounts counts;
  double last_time_s = 0;  // of the row before, where one has none

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Index = std::unordered_map<std::string, size_t, Hash, std::equal_to<>>;

  void widen();

  size_t most_columns_, most_groups_, stride_ = 0;
  std::vector<double> time_s_, values_;
  std::vector<uint32_t> group_;
  std::vector<std::string> names_, group_names_;
  Index columns_, groups_;
  // By their hashes, so that each counts once and long names cost nothing.
  std::set<size_t> ignored_, text_;
  std::map<size_t, std::string> some_text_;
};

}  // namespace perfcast::measure
