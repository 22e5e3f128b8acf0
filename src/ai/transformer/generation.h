#pragma once
// Prompts to new tokens: as many sequences at once as the transformer has slots, the next one as soon as one has ended.
//
// Which of them are in a step follows the rules of the simulated engine (ai/serving/replica.h), of one whose cache has
// room for every slot at its longest. A test holds both against each other.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "ai/serving/batch_time.h"
#include "ai/transformer/token_sampler.h"
#include "ai/transformer/transformer.h"
#include "base/result.h"

namespace perfcast::ai {

struct GenerationRequest {
  std::vector<int32_t> prompt;
  int64_t new_tokens = 1;  // at most
  SamplingSettings sampling;
};

struct GenerationLimits {
  // Sequences that generate come first, a token each, then prompts that were begun, then those that wait, until the
  // step has `step_tokens`; of what doesn't fit a piece. Else prompts have steps of their own, which come first, as
  // many together as one pass takes (kPassRows), so that the first ones don't wait for the last.
  bool chunked_prefill = false;
  int64_t step_tokens = kPassRows;  // at least as many as there are slots
};

// `request`: its number, `index`: of its new tokens, from 0. False: the request wants no more of them.
using OnToken = std::function<bool(size_t request, int64_t index, int32_t token)>;

// Requests may come at any time between steps, so that a server can be built on it. The transformer's slots are its
// own; what they held is forgotten. Not for several callers at once.
class GenerationQueue {
 public:
  explicit GenerationQueue(Transformer& transformer, GenerationLimits limits = {});

  // Numbers requests from 0. "bad-usage" where a request wants no token, or more than its slot holds, "bad-token".
  Result<size_t> add(GenerationRequest request);
  // The next step, of what there is. Errors of Transformer::prefill(): only clear() helps then.
  Status step(const OnToken& on_token);
  // What the last step was made of.
  const StepBatch& last_batch() const { return batch_; }
  // Forgets a request, whether it waits or has a slot; not during a step.
  void cancel(size_t number);
  // Forgets all requests, those that have a slot too; every slot is free then. Numbers go on.
  void clear();

  size_t waiting() const { return waiting_.size(); }
  size_t active() const { return active_.size(); }
  bool is_idle() const { return waiting_.empty() && active_.empty(); }

 private:
  // A request; with a slot once it is let in.
  struct Sequence {
    size_t number;
    std::vector<int32_t> prompt;
    int64_t new_tokens;
    TokenSampler sampler;
    int64_t slot = -1;
    int64_t computed = 0;  // of the prompt
    int64_t made = 0;
    int32_t last = 0;

    int64_t left() const { return static_cast<int64_t>(prompt.size()) - computed; }  // to compute
  };
  struct Share {      // of a step
    size_t sequence;  // of active_
    int64_t tokens;
  };
  void plan_whole_prompts();
  void plan_chunks();
  void let_in(int64_t tokens);  // the first that waits, with so many of its prompt
  void add_decodes();
  void add_prompt(size_t sequence, int64_t tokens);
  void take_token(Sequence& sequence, std::span<const float> logits, const OnToken& on_token);

  Transformer& transformer_;
  GenerationLimits limits_;
  size_t next_ = 0;
  std::deque<Sequence> waiting_;
  std::vector<int64_t> free_;
  std::vector<Sequence> active_;  // in the order in which they were let in
  std::vector<Share> plan_;
  StepBatch batch_;
  std::vector<float> logits_;
};

// Every request to its end. Nothing is begun where one of them can't be; the error says which.
Status generate(Transformer& transformer, std::span<const GenerationRequest> requests, const OnToken& on_token);

}  // namespace perfcast::ai
