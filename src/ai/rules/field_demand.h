#pragma once
// What a benchmark of the field asks of a run, and where a run asks less of itself. Such a run may be valid by its own
// rules; it can't be set beside published results.

#include <cstdint>
#include <string>
#include <vector>

#include "ai/load/load_settings.h"
#include "ai/load/load_verdict.h"
#include "ai/rules/bench_rules.h"
#include "base/result.h"

namespace perfcast::ai {

struct FieldDemand {
  std::string benchmark;          // its name, where an alias was given; empty: none was
  LoadRules rules;                // of load_rules_for()
  int64_t samples = 0;            // that performance mode draws from; 0: not stated
  int64_t samples_per_query = 1;  // multi stream
  bool equal_issue = false, streams = false;
  // Of the closed division: what of the benchmark's quality nothing holds a run to, in words.
  std::vector<std::string> unheld_quality;
};

// Errors of load_rules_for().
Result<FieldDemand> field_demand_of(const BenchRules& rules, const BenchmarkChoice& choice, LoadScenario scenario);

// Each thing that `used` and `settings` have looser than the field, with both numbers; then what of its quality isn't
// held. What is stricter is no reason. Durations, counts and seeds are rules of their own (load_verdict.h).
std::vector<std::string> looser_than_field(const FieldDemand& field, const LoadRules& used,
                                           const LoadSettings& settings);

}  // namespace perfcast::ai
