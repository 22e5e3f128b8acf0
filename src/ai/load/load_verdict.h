#pragma once
// Whether a run counts: each rule that it breaks, by name. Models of what counts are the field's rules; which of them
// are asked, and with what numbers, says whoever asks.

#include <optional>
#include <string>
#include <vector>

#include "ai/load/load_result.h"
#include "ai/load/load_summary.h"

namespace perfcast::ai {

struct LoadRules {
  double percentile = 0.99;  // that latencies are judged at
  // Of the server scenario, at that percentile; absent: no limit.
  std::optional<double> max_latency_s, max_ttft_s, max_tpot_s;
  double min_duration_s = 0;
  int64_t min_queries = 1;  // offline: samples
  // Enough queries to be sure of the percentile at 99%: early_stopping.h. Not asked of offline.
  bool early_stopping = true;
  std::optional<LoadSeeds> seeds;  // that the order must be made of
  // Of the data set, as a share of 1, or in the metric of a benchmark: what is asked, and what is known.
  std::optional<double> least_accuracy, accuracy;
  std::string accuracy_metric = "accuracy";
};

// The percentile that the field judges a scenario by: 0.9 single stream, 0.99 all others.
double field_percentile_of(LoadScenario scenario);

// A broken rule: "min-duration", "min-queries", "latency", "ttft", "tpot", "early-stopping", "few-tokens",
// "empty-answers", "seeds", "accuracy", "accuracy-unknown", "no-answers", or a fault of load_result.h.
struct LoadViolation {
  std::string rule, message, mend;
};

struct LoadVerdict {
  std::vector<LoadViolation> violations;
  bool valid() const { return violations.empty(); }
  bool breaks(std::string_view rule) const;
  // Broken by nothing but too few queries or too little time: it says nothing of the rate.
  bool is_only_too_short() const;
  // Of what was measured nothing is wrong. The rules that are broken, if any, are asked of published results alone:
  // that a run is long enough, that each answer has a time per token.
  bool is_sound() const;
  // As the field's logs tell them apart.
  bool duration_met = true, queries_met = true, latency_met = true, early_stopping_met = true;
  int64_t over_latency = 0;     // server: samples over the latency limit
  int64_t over_limits = 0;      // server: over the limit that most are over
  int64_t missing_queries = 0;  // server: further ones within the limits that would be enough to be sure
  std::string early_stopping;   // in words
};

LoadVerdict judge(const LoadResult& result, const LoadSummary& summary, const LoadRules& rules);

}  // namespace perfcast::ai
