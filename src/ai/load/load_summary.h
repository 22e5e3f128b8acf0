#pragma once
// The numbers of a run, by the field's definitions.

#include <optional>

#include "ai/load/early_stopping.h"
#include "ai/load/latency_numbers.h"
#include "ai/load/load_result.h"

namespace perfcast::ai {

struct LoadSummary {
  LatencySummary latency;         // of queries: what the scenario is judged by
  LatencySummary sample_latency;  // the same but for multi stream
  LatencySummary lateness;        // how much later than due samples were issued
  LatencySummary ttft, tpot;      // of answers that have them
  double seconds_s = 0;           // until the last answer
  // Single and multi stream: queries - 1 over the time until the last one was issued. Server and trace: queries - 1
  // over the time until the last one was answered. Offline, clients, and one query: over the time until the last
  // answer.
  double queries_per_s = 0;
  double scheduled_per_s = 0;  // server, trace: as the schedule had it
  double samples_per_s = 0;    // queries_per_s times the answered samples of a query, in the mean
  double tokens_per_s = 0;     // over seconds_s, as the field has it
  // Time from the first to the last token of all answers over the tokens between them, unlike tpot, which is a mean of
  // answers' means. Time between arrivals: the result's inter_token_*.
  int64_t tpot_pooled_ns = 0;
  std::optional<EarlyEstimate> early_p90, early_p99;  // single stream; of multi stream's queries p99
};

LoadSummary summarise(const LoadResult& result);

}  // namespace perfcast::ai
