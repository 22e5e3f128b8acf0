#pragma once
// What adapting found, for people and as JSON (perfcast.adapt/1).

#include <string>

#include "base/json_fwd.h"
#include "machine/ceiling/memory_facts.h"
#include "program/adapt/adapt_here.h"
#include "program/adapt/adapt_platform.h"

namespace perfcast::program {

// A run's time over what the facts alone say of it, and half the width of their 90% interval: logarithms.
struct RunBesideFacts {
  double log_ratio = 0, half_width = 0;
};
// A note where not one of the runs is near to what the facts say, all to the same side; empty: some are.
std::string all_beyond_facts(const std::vector<RunBesideFacts>& runs);

// What stands beside a report where programs ran on this machine.
struct AdaptedHere {
  const HereOutcome* outcome = nullptr;  // null: none ran here
  MemoryFacts memory;                    // measured; without facts: not
  std::string runs_file;                 // where the times were kept; empty: nowhere
};

// `bundle`: the file that the new bundle was written to; empty: none.
std::string adapt_as_text(const AdaptReport& report, const AdaptedHere& here, const std::string& bundle);
Json adapt_as_json(const AdaptReport& report, const AdaptedHere& here = {}, const std::string& bundle = "");

}  // namespace perfcast::program
