#pragma once
// Policies side by side, as numbers: the runs of each with every seed, and what one gains over another.

#include <cstdint>
#include <string>
#include <vector>

#include "fleet/jobs/cluster.h"
#include "fleet/jobs/outcome.h"
#include "fleet/jobs/summary.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

struct PolicyRun {
  uint64_t seed = 1;
  ScheduleSummary summary;
  Outcome outcome;  // of `workload`; may be left empty for all seeds but the first, which figures and lines show
};

struct ScheduleReport {
  Cluster cluster;
  Workload workload;
  std::vector<PolicyRun> runs;  // each policy with the same seeds; policies in the order of the report
  std::vector<std::string> notes;
};

// One policy over its seeds.
struct PolicyRow {
  std::string policy;
  std::vector<const PolicyRun*> runs;  // by seed, as they came
  ScheduleSummary middle;              // of every number the median over the seeds; counts of the first seed
  ScheduleSummary lowest, highest;     // numbers only
  // Against the same seed of the other policy, the median; NaN without that policy. The share of the gap is
  // (random - this) / (random - oracle), below 0 where it is worse than random; NaN where the oracle gains nothing.
  double makespan_to_oracle = kUnknown, makespan_gap_closed = kUnknown;
  double completion_to_oracle = kUnknown, completion_gap_closed = kUnknown;
};
// Points into the report, which must outlive the rows.
std::vector<PolicyRow> policy_rows(const ScheduleReport& report);
std::vector<uint64_t> seeds_of(const ScheduleReport& report);  // in order of appearance

}  // namespace perfcast::fleet
