#pragma once
// What one step of an engine works on, and who says how long it takes.

#include <cstdint>

namespace perfcast::ai {

// Sums, so that a step costs the same to time whether 1 or 1,000 sequences are in it.
struct StepBatch {
  // Sequences that get their next token.
  int64_t decodes = 0;
  double decode_context_tokens = 0;  // keys that they see, summed
  // Prompts, or chunks of them.
  int64_t prefills = 0;
  double prefill_tokens = 0;
  double prefill_pairs = 0;           // of a query and a key it sees, summed; in a layer that sees all keys
  double prefill_windowed_pairs = 0;  // likewise, in a layer that sees BatchTime::window_tokens()
  int64_t completed_prefills = 0;     // whose last chunk this is: they get their first token

  double tokens() const { return static_cast<double>(decodes) + prefill_tokens; }
};

class BatchTime {
 public:
  virtual ~BatchTime() = default;
  virtual double seconds(const StepBatch& batch) const = 0;  // above 0
  virtual double window_tokens() const { return 0; }         // 0: no layer has a window

 protected:
  BatchTime() = default;
  BatchTime(const BatchTime&) = default;
  BatchTime& operator=(const BatchTime&) = default;
};

// What a request meets before the scheduler sees it. One process breaks prompts into tokens, one after the other.
struct FrontEndTime {
  double fixed_s = 0;         // HTTP, template, streaming: delays a request, and no other
  double prompt_token_s = 0;  // the tokeniser, for each token
};

}  // namespace perfcast::ai
