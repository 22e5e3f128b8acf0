#pragma once
// Readers of traces of requests.
//
//   Vidur's CSV       arrived_at (s), num_prefill_tokens, num_decode_tokens
//   Azure's CSV       TIMESTAMP (a date and time), ContextTokens, GeneratedTokens
//   Mooncake's lines  {"timestamp": ms, "input_length", "output_length", "hash_ids": blocks of 512 tokens}
//   engines' logs     {"arrival_time": s, "input_toks", "output_toks"}
//   any CSV           prompt_tokens, output_tokens; as far as known arrival_s, priority, after_request: the number of
//   the
//                     row above that it is the next turn of (1 is the first); its arrival_s counts from the end of that
//                     one

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ai/serving/serving_request.h"
#include "base/result.h"

namespace perfcast::ai {

struct TraceRead {
  ServingTrace trace;              // the first request comes at 0 s
  std::string form;                // "Vidur's CSV"
  bool has_arrivals = false;       // else all come at 0 s
  std::vector<std::string> notes;  // what was left out, sorted, not used
};

// Columns by name in any order, capital letters or not. Left out and counted: requests without prompt or output, with
// lengths that are no whole numbers of tokens, without a time where others have one; turns after one of these. Arrivals
// out of order are sorted, and it is said. Errors: "bad-csv", "bad-json", "bad-json-field", "missing-column",
// "bad-number" with the line; "no-requests" where none is left; "too-large".
Result<TraceRead> read_serving_trace(std::string_view text, const std::string& source);

}  // namespace perfcast::ai
