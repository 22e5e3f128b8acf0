#pragma once
// What one step of an engine works on, and who says how long it takes.

#include <cstdint>

#include "base/unknown.h"

namespace perfcast::ai {

// Sums, so that a step costs the same to time whether 1 or 1,000 sequences are in it.
struct StepBatch {
  // Sequences that get their next token.
  int64_t decodes = 0;
  double decode_context_tokens = 0;  // keys that they see, summed
  int64_t tokens_per_decode = 1;     // that are computed for each: its next one, and guesses that are checked with it
  // Prompts, or chunks of them.
  int64_t prefills = 0;
  double prefill_tokens = 0;
  double prefill_pairs = 0;           // of a query and a key it sees, summed; in a layer that sees all keys
  double prefill_windowed_pairs = 0;  // likewise, in a layer that sees BatchTime::window_tokens()
  int64_t completed_prefills = 0;     // whose last chunk this is: they get their first token
  double shared_tokens = 0;  // of all engines that share experts in this step, own ones too; 0: experts aren't shared

  double tokens() const { return static_cast<double>(decodes * tokens_per_decode) + prefill_tokens; }
};

class BatchTime {
 public:
  virtual ~BatchTime() = default;
  virtual double seconds(const StepBatch& batch) const = 0;  // above 0
  virtual double window_tokens() const { return 0; }         // 0: no layer has a window
  // Of a step that took so long, of all devices of the engine; NaN: not known.
  virtual double joules(const StepBatch& /*batch*/, double /*seconds*/) const { return kUnknown; }

 protected:
  BatchTime() = default;
  BatchTime(const BatchTime&) = default;
  BatchTime& operator=(const BatchTime&) = default;
};

// What a request meets around the scheduler. One process of each replica takes requests, breaks prompts into tokens and
// sends tokens, one after the other.
struct FrontEndTime {
  double fixed_s = 0;         // HTTP, template, client: delays a request, and no other
  double request_s = 0;       // that the process is busy with a request, beside its tokens
  double prompt_token_s = 0;  // the tokeniser, for each token
  double token_s = 0;         // text and stream, for each token that is sent
};

}  // namespace perfcast::ai
