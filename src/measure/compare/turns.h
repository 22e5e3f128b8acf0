#pragma once
// Two commands, run in turns until it is clear which is slower, or the budget ends.

#include "base/result.h"
#include "measure/compare/comparison.h"

namespace perfcast::measure {

// Counts are taken at the first look: programs that do the same work end early, and where times stay unclear counts
// decide (verdict_by_counts()). No pair is begun that would end after the budget; the first may take what is left of
// it. Errors: run_process()'s with the command before, "program-failed", "limit-reached" (of one run; of the budget
// before a pair), what `record` says. An interrupt after fewest_pairs() ends the comparison with what there is; before,
// it is an error. Where nothing can be counted, or only in part, a note says why.
Result<Comparison> compare_in_turns(const CompareRequest& request);

}  // namespace perfcast::measure
