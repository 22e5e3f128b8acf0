#pragma once
// Two commands by what they do: counts under an instrumenter, which hardly vary from run to run.

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/compare/comparison.h"
#include "profile/profile.h"

namespace perfcast::measure {

struct CountedBoth {
  std::vector<CountRow> rows;          // the first is of instructions; the others differ, most first
  std::array<MetricValues, 2> counts;  // of work, all of them: means over the runs
  std::string partly;                  // why not all was counted; empty: all was
};
// `limit_s`: of all counted runs together; 0: none. It ends as soon as the first run shows that they would not fit.
// Errors: "no-counts", "program-failed", "limit-reached", run_process()'s.
Result<CountedBoth> count_both(const CompareRequest& request, double limit_s = 0);

// How far from the ratio of two counts another measurement's may lie: a log ratio; three times what runs of one command
// differ by, 0.01% at least.
double count_reach(const CountRow& row);

// Of a profile that was taken before. Error "no-counts".
Result<WorkCounts> counts_of(const Profile& profile, const std::string& source);

// By counts of instructions alone: no time is taken. The interval is as far about the ratio as three times what runs of
// one command differ by, 0.01% at least; of one run of each it isn't known, and where one is of a profile it is
// assumed. `budget_s`: 0: none. Errors: "no-counts", and as above; what was counted only in part is an error, too.
Result<Comparison> compare_counts(const CompareRequest& request);

}  // namespace perfcast::measure
