#pragma once
// A stream with its incidents as a page: one drawing for each metric that an alert named. Of a long stream, the lowest
// and highest values of stretches of time, in memory that does not grow.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "measure/watch/alert.h"
#include "measure/watch/row_block.h"

namespace perfcast::measure {

class StreamPage {
 public:
  // Rows as they come, before they are judged, and alerts behind them.
  void add_rows(const RowBlock& block);
  void add_alert(const Alert& alert, const std::vector<std::string>& names);

  // HTML. `source`: where the rows came from; `summary`: lines for the end.
  std::string to_html(const std::string& source, const std::vector<std::string>& summary) const;

 private:
  static constexpr size_t kMostStretches = 1000, kMostIncidents = 1000;

  struct Range {
    double low = HUGE_VAL, high = -HUGE_VAL;
  };
  struct Stretch {
    double from_s = 0, to_s = 0;
    std::vector<Range> ranges;  // by column; fewer where columns came later
  };
  struct Group {
    std::string name;
    uint64_t rows_in_each = 1, rows_in_last = 0;
    std::vector<Stretch> stretches;
  };
  struct Incident {
    std::string group;
    uint64_t id = 0;
    double from_s = 0, to_s = 0;
    bool open = true, change = false, provisional = false;
    Severity severity = Severity::kMinor;
    std::vector<size_t> columns;
    std::string opening, closing;
  };

  static void merge_pairs(Group& group);
  std::string picture(const Group& group, size_t column, size_t number) const;
  std::string incidents_html() const;

  std::vector<std::string> names_;
  std::vector<Group> groups_;
  std::vector<Incident> incidents_;
  uint64_t left_out_ = 0;  // incidents beyond the limit
};

}  // namespace perfcast::measure
