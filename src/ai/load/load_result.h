#pragma once
// What a run measured.

#include <cstdint>
#include <string>
#include <vector>

#include "ai/load/latency_numbers.h"
#include "ai/load/load_settings.h"

namespace perfcast::ai {

// Times in nanoseconds since the run's start.
struct SampleRecord {
  uint64_t id = 0;
  uint32_t index = 0;
  int64_t due_ns = 0, issued_ns = 0, answered_ns = 0;
  int64_t first_token_ns = -1;  // none came
  int32_t tokens = 0;
  int32_t streamed_tokens = 0;  // of them those that were reported as they came
  int32_t prompt_tokens = 0;    // 0: not known
  bool failed = false;
  std::string data;  // where it is kept
};

// Something that makes a run's result none. Codes: "system-broke", "system-hung", "unanswered", "failed-answers",
// "answered-twice", "unknown-ids", "bad-answers", "late-tokens", "outstanding-limit", "clock-step", "interrupted",
// "log-failed", "judge-failed", "partly-judged", "token-counts".
struct LoadFault {
  std::string code, message;
  bool operator==(const LoadFault&) const = default;
};

struct LoadResult {
  LoadSettings settings;
  std::string system;

  int64_t queries = 0, samples = 0;  // that were issued
  int64_t answered = 0, failed = 0;  // of the samples
  int64_t unanswered() const { return samples - answered - failed; }

  // Nanoseconds since the start.
  int64_t last_due_ns = 0;  // of the last query that was issued
  int64_t last_issued_ns = 0;
  int64_t last_query_answered_ns = 0;  // its last answer
  int64_t end_ns = 0;                  // the last answer of all

  // Of answered samples, in the order in which they were taken up: latency since the query was due. With tokens all
  // three have the same order; `tpot_ns` is -1 for an answer whose tokens came all at once, `ttft_ns` where none came.
  std::vector<int64_t> latencies_ns, ttft_ns, tpot_ns;
  std::vector<int64_t> due_ns;              // in the same order, where the settings keep it
  std::vector<int32_t> answer_tokens;       // with tokens, in the same order
  std::vector<int64_t> query_latencies_ns;  // kMultiStream: of queries that were answered whole
  std::vector<int64_t> lateness_ns;         // of samples: issued later than due
  int64_t tokens = 0;
  int64_t streamed_tokens = 0;                             // of them those that were reported as they came
  int64_t prompt_tokens = 0;                               // of answered samples, as far as the system says
  int64_t too_few_tokens = 0;                              // answers without a time per token
  int64_t empty_answers = 0;                               // of them those without any token
  int64_t inter_token_count = 0;                           // times between two arrivals of tokens, of all answers
  int64_t inter_token_p50_ns = 0, inter_token_p99_ns = 0;  // within 0.4%

  int64_t judged = 0, right = 0;  // answers that something could judge
  int64_t unjudged = 0;           // answers of accuracy mode that nobody could judge
  std::vector<LoadFault> faults;
};

}  // namespace perfcast::ai
