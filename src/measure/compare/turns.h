#pragma once
// Two commands, run in turns until it is clear which is slower, or the budget ends.

#include "base/result.h"
#include "measure/compare/comparison.h"

namespace perfcast::measure {

// Errors: run_process()'s with the command before, "program-failed", "limit-reached", what `record` says. An interrupt
// after fewest_pairs() ends the comparison with what there is; before, it is an error. Where nothing can be counted, or
// only in part, a note says why.
Result<Comparison> compare_in_turns(const CompareRequest& request);

}  // namespace perfcast::measure
