#pragma once
// Microsoft's Philly trace of deep-learning jobs (M. Jeon et al., USENIX ATC 2019) in the reduced form that Sia's
// artifacts hold: CSV with timestamp (local time, YYYY-MM-DD HH:MM:SS), duration (s), num_gpus, gpu_time (GPU seconds)
// and cluster (virtual cluster). Plain or .gz.

#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

struct PhillyOptions {
  std::string platform = "any";  // that the durations are of
  // The trace's local time may be US Pacific, where clocks went back an hour on 2017-11-05 at 02:00. When set, arrivals
  // from then on are an hour later; those of the hour before, which came twice, are taken as its first pass. Unset (the
  // trace doesn't say), timestamps are taken as they stand, and the jobs in doubt are counted.
  bool clocks_go_back = false;
};

// Arrivals count from the earliest timestamp; ids are the rows, from 1; the owner is the virtual cluster; jobs ask for
// GPUs and no cores, and may spread. Counted in the notes: rows without GPUs or without a duration (left out), rows out
// of order (sorted), gpu_time other than duration times GPUs, identical rows, jobs in the doubtful hour.
// "missing-column", "bad-number", "bad-job" with file and line.
Result<Workload> parse_philly_trace(std::string_view text, const std::string& source,
                                    const PhillyOptions& options = {});
Result<Workload> read_philly_trace(const std::string& path, const PhillyOptions& options = {});

}  // namespace perfcast::fleet
