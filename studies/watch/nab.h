#pragma once
// The Numenta benchmark: series of one metric with labelled windows, and the score of alarms in its standard profile
// (Lavin & Ahmad, ICMLA 2015).

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "studies/watch/recorded_server.h"

namespace perfcast::measure::watch_study {

struct NabFile {
  std::string name, category;                      // "Twitter_volume_FB", "realTweets"
  MetricStream stream;                             // of one column
  std::vector<std::pair<size_t, size_t>> windows;  // first and last row
  bool tuned = false;                              // the form and the settings were chosen with its score in sight
};

// CATEGORY/NAME.csv.gz as windows.json of the folder names them. Of each category, by name, every second one from the
// first on is tuned on.
Result<std::vector<NabFile>> read_nab(const std::string& folder);

struct NabCounts {
  double sum = 0;
  size_t files = 0, windows = 0, found = 0, false_alarms = 0;
  void add(const NabCounts& other);
  // 0: no alarms at all; 100: each window's first row, and nothing else.
  double score() const;
};

// Rows of alarms, rising. The first 15% of a file, at most 750 rows, are not scored. In a window of n rows that ends at
// row e the earliest alarm i counts s(-(e - i + 1) / n) / s(-1), none -1, s(x) = 2 / (1 + e^(5x)) - 1. An alarm
// outside counts 0.11 s(d / n), d rows behind the last window, of n rows; -0.11 beyond 3 n or before any window.
NabCounts nab_counts(const NabFile& file, const std::vector<size_t>& alarms);

}  // namespace perfcast::measure::watch_study
