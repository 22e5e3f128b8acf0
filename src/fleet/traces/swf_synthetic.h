#pragma once
// A trace like that of the KTH SP2 (100 nodes, 28,476 jobs in the cleaned log of the Parallel Workloads Archive,
// October 1996 to August 1997), for benchmarks and tests: the real log isn't ours to ship. No row of it is used.
//
// Held to what is published of the log: 100 processors; run times to 60 h, and the site's limits of 4 h by day, 15 h by
// night and 60 h at the weekend as the users' usual requests; a mean run time of about 8,900 s, a mean of about 7.7
// processors, an offered load of about 0.70, which with 28,476 jobs is eleven months. The rest are the regularities of
// such logs (D. G. Feitelson, Workload Modeling for Computer Systems Performance Evaluation, 2015): powers of two;
// long-tailed run times that grow with the size; requests from a few round values, of which the run uses any share and
// now and then all; a day and a week in the arrivals, which come in bursts; few users with most of the jobs.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

struct SwfSyntheticOptions {
  int64_t jobs = 28476;
  double load = 0.70;  // sum of cores times run time over 100 processors times the last arrival
  uint64_t seed = 1;
  std::string platform = "any";
};

inline constexpr int32_t kSyntheticProcessors = 100;

// Jobs with cores, spread, limit_s (the user's request, at least the run time) and owner. All times are whole seconds.
// The same options give the same jobs. "bad-mix": no job, a load that isn't in (0, 100].
Result<Workload> synthetic_swf(const SwfSyntheticOptions& options = {});

// A trace of one platform as SWF text, for other simulators; parse_swf gives the same jobs back where their cores are
// processors, ids are unique and nothing but SWF's own fields is set. Times with their fractions, as the format allows.
// "bad-workload": several platforms, or jobs without processors or time.
Result<std::string> swf_text(const Workload& workload, int64_t max_procs);

}  // namespace perfcast::fleet
