#pragma once
// A stream's rows to the detectors of its groups, and the alerts in the order of the rows; all of it saved and
// restored.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/watch/detector.h"
#include "measure/watch/row_block.h"

namespace perfcast::measure {

class Archive;

struct WatcherOptions {
  DetectorOptions detector;
  size_t most_columns = 200;
  size_t most_groups = 64;
};

// Where in its file a stream stands, for --follow.
struct StreamPosition {
  uint64_t inode = 0, offset_bytes = 0;
  std::string header;  // of CSV
};

class Watcher {
 public:
  explicit Watcher(const WatcherOptions& options);

  // Parsers put rows here; flush() takes them.
  RowBlock& block() { return block_; }
  const RowBlock& block() const { return block_; }
  // All rows of the block, which is empty afterwards.
  Status flush(std::vector<Alert>& alerts);

  size_t groups() const { return groups_.size(); }
  // Of groups that are still learning: how many, and the rows that the fullest of them has.
  size_t warming_up() const;
  size_t most_warm_up_rows() const;
  size_t whole_warm_up() const;
  // How long the stream is, where that is known: a tenth of it is the warm-up, if the options don't say.
  void set_stream_rows(uint64_t rows);
  // Columns that came when all groups had learnt: nobody watches them.
  size_t late_columns() const;
  // "#3 since 2026-11-25 10:00:00", with the group where there are several.
  std::vector<std::string> open_episodes() const;
  const WatcherOptions& options() const { return options_; }

  StreamPosition position;

  // "PCWATCH1", version, options, names, clocks, detectors, CRC-32.
  std::string to_bytes();
  // "bad-state": corrupt, another version, or other settings than those it was saved with; says how to start anew.
  static Result<Watcher> from_bytes(std::string_view bytes, const WatcherOptions& options, const std::string& source);
  // "state-mismatch" where fewer than half of the state's columns came in the first rows behind it.
  Status check_columns(const std::string& source);
  bool is_checking_columns() const { return restored_columns_ > 0; }

 private:
  struct Group {
    Detector detector;
    double last_time_s = 0;
    uint64_t backward_rows = 0;  // in a row
    bool any = false;
  };

  void take_clock(Group& group, double& time_s);
  void archive(Archive& archive);

  size_t warm_up_rows_ = 0;     // 0: as the options say
  bool beyond_limits_ = false;  // more columns or groups were saved than are watched now
  WatcherOptions options_;
  RowBlock block_;
  std::vector<Group> groups_;
  size_t restored_columns_ = 0;  // 0: nothing to check
  std::vector<bool> restored_known_;
  size_t rows_behind_restore_ = 0;
  // A group's rows of a block.
  std::vector<double> times_, values_;
  std::vector<size_t> rows_;
};

}  // namespace perfcast::measure
