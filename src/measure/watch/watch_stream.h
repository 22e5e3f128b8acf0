#pragma once
// From where rows come to where alerts go: a file, a pipe, a file that grows, or an endpoint that is asked again and
// again.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/watch/row_parser.h"
#include "measure/watch/watcher.h"

namespace perfcast::measure {

struct WatchRequest {
  std::string input = "-";    // a path, or - for standard input
  std::string endpoint;       // http://...: in place of input
  double interval_s = 10;     // between scrapes
  bool follow = false;        // go on at the end of the file, until stop()
  uint64_t most_scrapes = 0;  // 0: no end
  ParserOptions parser;
  WatcherOptions watcher;
  std::string state;  // path; empty: none
  double save_every_s = 60;

  // Rows as they come, before they are judged, where asked for.
  std::function<void(const RowBlock&)> rows;
  // Each alert as it comes, with the names of the columns. A failure ends the stream with it.
  std::function<Status(const Alert&, const std::vector<std::string>&)> alert;
  std::function<void()> judged;                  // the rows have been judged, and the alerts told; where asked for
  std::function<void(const std::string&)> note;  // what a person should know at once, once
  std::function<bool()> stop = [] { return false; };
};

struct WatchSummary {
  StreamCounts counts;
  size_t columns = 0, groups = 0, warming_up = 0, most_warm_up_rows = 0, whole_warm_up = 0;
  size_t late_columns = 0;                 // came after the warm-up: left out
  size_t text_columns = 0;                 // that had text and never a number: left out
  std::vector<std::string> text_names;     // of some of them
  std::vector<std::string> open_episodes;  // at the end
  uint64_t alerts = 0, changes = 0;        // episodes that began; that turned out to be changes
};

// Errors: the input can't be opened or has no usable header, no row has a time that can be read in the column of times
// ("no-times"), the stream has no number ("no-metrics"), the endpoint never answered ("no-answer"), the state is
// unusable, alert() failed. Counts are those of this call, whatever an earlier one saved.
Result<WatchSummary> watch_stream(const WatchRequest& request);

// What was not as it should be in the stream, a line each; empty: nothing.
std::vector<std::string> summary_lines(const WatchSummary& summary, const WatcherOptions& options);

}  // namespace perfcast::measure
