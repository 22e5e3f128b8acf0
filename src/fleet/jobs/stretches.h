#pragma once
// The stretches of time that jobs held nodes, with segments or without.

#include <cmath>

#include "fleet/jobs/outcome.h"

namespace perfcast::fleet {

// Calls visit(const Segment&, double seconds) for every stretch: the outcome's segments where it keeps them, otherwise
// one stretch for each job that started, from its result. Then a preempted job lies whole in the group where it ran
// last, and `seconds`, the time it ran, is less than end - start. A job that never ended has NaN for its end.
template <typename Visit>
void for_each_stretch(const Outcome& outcome, Visit visit) {
  if (!outcome.segments.empty()) {
    for (const Segment& segment : outcome.segments) visit(segment, segment.end_s - segment.start_s);
    return;
  }
  for (size_t i = 0; i < outcome.jobs.size(); ++i) {
    const JobResult& job = outcome.jobs[i];
    if (std::isnan(job.start_s) || job.group == kNoIndex) continue;
    visit(Segment{static_cast<int32_t>(i), job.group, job.start_s, job.end_s, 0, 0}, job.run_s);
  }
}

}  // namespace perfcast::fleet
