#pragma once
// Prompts to new tokens: as many sequences at once as the transformer has slots, the next one as soon as one has ended.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "ai/transformer/token_sampler.h"
#include "ai/transformer/transformer.h"
#include "base/result.h"

namespace perfcast::ai {

struct GenerationRequest {
  std::vector<int32_t> prompt;
  int64_t new_tokens = 1;  // at most
  SamplingSettings sampling;
};

// `request`: its number, `index`: of its new tokens, from 0. False: the request wants no more of them.
using OnToken = std::function<bool(size_t request, int64_t index, int32_t token)>;

// Requests may come at any time between steps, so that a server can be built on it. The transformer's slots are its
// own; what they held is forgotten. Not for several callers at once.
class GenerationQueue {
 public:
  explicit GenerationQueue(Transformer& transformer);

  // Numbers requests from 0. "bad-usage" where a request wants no token, or more than its slot holds, "bad-token".
  Result<size_t> add(GenerationRequest request);
  // Prompts that wait and find free slots, as many together as one pass takes (kPassRows), so that the first ones don't
  // wait for the last; where there are none, the next token of each sequence. Errors of Transformer::prefill():
  // requests of that step are lost then, and their slots until clear().
  Status step(const OnToken& on_token);
  // Forgets all requests, those that have a slot too; every slot is free then. Numbers go on.
  void clear();

  size_t waiting() const { return waiting_.size(); }
  size_t active() const { return active_.size(); }
  bool is_idle() const { return waiting_.empty() && active_.empty(); }

 private:
  struct Waiting {
    size_t number;
    GenerationRequest request;
  };
  // A request that has a slot.
  struct Sequence {
    size_t number;
    int64_t slot, new_tokens;
    TokenSampler sampler;
    int64_t made = 0;
    int32_t last = 0;
  };
  Status run(std::span<const SlotTokens> tokens, std::vector<Sequence>& sequences, const OnToken& on_token);

  Transformer& transformer_;
  size_t next_ = 0;
  std::deque<Waiting> waiting_;
  std::vector<int64_t> free_;
  std::vector<Sequence> active_;
  std::vector<float> logits_;
};

// Every request to its end. Nothing is begun where one of them can't be; the error says which.
Status generate(Transformer& transformer, std::span<const GenerationRequest> requests, const OnToken& on_token);

}  // namespace perfcast::ai
