#pragma once
// Prometheus' text exposition format (version 0.0.4) and OpenMetrics (1.0) to rows: one scrape, one row. A series is a
// metric, named as the text has it, labels and all. Counters, and the parts of histograms and summaries that only grow,
// become rates per second between two scrapes, or between the samples' own times where they have some: a sample whose
// time is that of the last scrape is not new, and has no rate. One that fell was reset, and counts from 0. Times of
// creation ("_created") and exemplars are no metrics. Lines that are none of the format are counted and left out.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "measure/watch/row_block.h"

namespace perfcast::measure {

class PrometheusReader {
 public:
  // "bad-exposition" where no line is a sample. Series beyond the block's limit are counted as ignored columns.
  Status take(std::string_view text, double time_s, RowBlock& block);
  // Rates start anew with the next scrape: after a pause.
  void forget() { last_.clear(); }

 private:
  struct Last {
    double value = 0;
    uint64_t scrape = 0;
    std::optional<double> stamp_s;
  };
  std::unordered_map<std::string, Last> last_;
  uint64_t scrape_ = 0;
  double last_time_s_ = 0;
};

// One sample line: "name{a=\"b\"} 1.5 1700000000000 # {trace=\"x\"} 0.7".
struct PrometheusSample {
  std::string series;     // as it stands, but for blanks
  std::string_view name;  // of the line: before the labels, or the first among them, in quotes
  double value = 0;
  std::optional<double> stamp_s;  // Unix time; milliseconds are told from seconds by their size
};
std::optional<PrometheusSample> parse_sample(std::string_view line);

}  // namespace perfcast::measure
