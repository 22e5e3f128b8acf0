#pragma once
// The Standard Workload Format 2.2 of the Parallel Workloads Archive (D. G. Feitelson et al.,
// https://www.cs.huji.ac.il/labs/parallel/workload/swf.html): one job a line, 18 numbers, -1 where not known; header
// comments "; Key: value". Plain or .gz.
//
// What becomes of the oddities of real logs; each kind is counted in Workload::notes:
//   no submit time                        left out
//   no run time (-1)                      left out: how long it would have run isn't known
//   run time 0                            kept: ran for less than half a second
//   no allocated processors               the requested ones, and the reverse; neither: left out
//   requested time -1 or 0                `default_limit_s`
//   requested time below the run time     raised to the run time, or with `kill_at_limit` the job will be killed there
//   status 0, failed                      kept: it held its processors; left out unless `keep_failed`
//   status 5, cancelled while it ran      kept likewise, its run time as logged; left out unless `keep_failed`
//   status 5, cancelled before its start  left out, or with `keep_cancelled` waits until it was cancelled
//   status 2 to 4, parts of a job         left out, for their sum has a line of its own (status 0 or 1); with
//                                         `keep_parts` each is a job that follows the one before, and the sum is left
//                                         out
//   submit times out of order             sorted
//   a job number used again               numbered on from the largest
//   preceding job that isn't there        not waited for
//   more processors than MaxProcs         kept (the simulator says that it fits nowhere) unless `drop_too_large`
//   more than 18 fields                   the first 18

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/jobs/cluster.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

struct SwfOptions {
  std::string platform = "any";  // that the times are of
  double default_limit_s = kUnknown;
  bool kill_at_limit = false;
  bool keep_failed = true;
  bool keep_cancelled = false;
  bool keep_parts = false;
  bool drop_too_large = false;
};

// Of the header comments; absent where the log doesn't say.
struct SwfHeader {
  std::optional<int64_t> max_procs, max_nodes, unix_start_time_s, max_runtime_s;
  std::string computer, time_zone;
};

struct SwfTrace {
  SwfHeader header;
  // One platform; cores = processors, spread; limit_s = requested time, which is the user's estimate; no forecasts.
  // Owners "user 12", programs "executable 7".
  Workload workload;
};

// "bad-swf" with file and line: fewer than 18 fields, no number, a negative time other than -1, too many processors;
// otherwise check_workload's errors (no job left, a circle of preceding jobs).
Result<SwfTrace> parse_swf(std::string_view text, const std::string& source, const SwfOptions& options = {});
Result<SwfTrace> read_swf(const std::string& path, const SwfOptions& options = {});

// The log's machine as MaxProcs (else MaxNodes, else as many as the largest job asks for) single-core nodes.
Cluster swf_cluster(const SwfTrace& trace);

}  // namespace perfcast::fleet
