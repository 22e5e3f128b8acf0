#pragma once
// What a benchmark's report has rows of, for JSON and for people.

#include <string>
#include <vector>

#include "ai/bench/bench_run.h"
#include "base/report/table.h"

namespace perfcast::ai {

struct NamedLatency {
  std::string name;
  LatencySummary times;
  bool only_some = false;  // p50, p99 and the count alone are known
};
ReportTable latency_table(const std::vector<NamedLatency>& rows);
ReportTable objectives_table(const std::vector<ObjectiveOutcome>& outcomes);
ReportTable trials_table(const std::vector<PeakTrial>& trials);

}  // namespace perfcast::ai
