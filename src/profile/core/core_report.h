#pragma once
// A trace on every design: cycles per instruction, time, and what the cycles were spent on.

#include <map>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "machine/facts/core_design.h"
#include "profile/core/memory_counts.h"
#include "profile/core/simulate.h"

namespace perfcast {

struct CoreReport {
  std::string program;
  std::vector<std::string> instruction_sets;  // of its processes
  std::string host_design;                    // of the machine at hand; empty where it is unknown or not asked for
  std::vector<CoreDesign> designs;
  std::vector<CoreResult> results;  // by design: all processes together
  size_t pieces = 0;
  MetricValues counts;  // of the whole run, as the trace or its profile has them; may be empty
};

// Errors of decode_for_cores(), and "empty-trace" where it has no piece.
Result<CoreReport> simulate_trace(const Trace& trace, const std::vector<CoreDesign>& designs, int threads);
// What is told holds memory against the counts of the whole run; what profiles get is as the pieces have it.
Json cores_json(const CoreReport& report);         // perfcast.cores/1
std::string cores_text(const CoreReport& report);  // for a person

// At most about so many instructions of a trace: of neighbouring pieces of a process one, which stands for all of them.
// Every process keeps at least one.
Trace thinned_trace(const Trace& trace, uint64_t most_instructions);

// Of modelled cycles, in profiles: "1, 21 designs 5d1e90aa". Another text: other cycles.
std::string core_models_version(const std::vector<CoreDesign>& designs);

// Cycles of a program of so many instructions, six digits, by the metrics' names: core_cycles_metric().
std::map<std::string, double> modelled_cycles(const CoreReport& report, double instructions_count);

// By design, for profiles: shares to a thousandth, those of nothing left out.
std::map<std::string, CoreBoundRatios> modelled_bounds(const CoreReport& report);

}  // namespace perfcast
