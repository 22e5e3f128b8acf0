#pragma once
// Prometheus' text exposition format (version 0.0.4) to rows: one scrape, one row. A series is a metric, named as the
// text has it, labels and all. Counters, and the parts of histograms and summaries that only grow, become rates per
// second between two scrapes; one that fell was reset, and counts from 0. Lines that are none of the format are counted
// and left out.

#include <cstdint>
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
  };
  std::unordered_map<std::string, Last> last_;
  uint64_t scrape_ = 0;
  double last_time_s_ = 0;
};

// One sample line: "name{a=\"b\"} 1.5 1700000000000". False where it is none. `series`: as it stands, but for blanks.
bool parse_sample(std::string_view line, std::string& series, std::string_view& name, double& value);

}  // namespace perfcast::measure
