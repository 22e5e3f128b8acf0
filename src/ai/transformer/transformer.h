#pragma once
// A decoder of Llama's form that runs on this machine's CPUs: prompts by products of matrices, tokens one at a time by
// loops that are as fast as weights can be read. Its operators are those that build_operators() lists for its config.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ai/transformer/operator_clock.h"
#include "ai/transformer/transformer_model.h"
#include "ai/transformer/weight_source.h"
#include "base/result.h"

namespace perfcast::ai {

struct TransformerKernels;

inline constexpr int kMostTransformerThreads = 1024;
inline constexpr int64_t kMostTransformerSlots = 4096;

struct TransformerOptions {
  Precision precision = Precision::kFp32;  // of weights: kFp32 or kInt8
  int threads = 1;
  int64_t slots = 1;                            // sequences that are held at once
  int64_t context = 0;                          // tokens of each; 0: what the model has positions for, at most 2,048
  const TransformerKernels* kernels = nullptr;  // null: the widest that this CPU can run
};

struct TransformerMemory {
  double weights_bytes = 0, cache_bytes = 0, scratch_bytes = 0;
  double total_bytes() const { return weights_bytes + cache_bytes + scratch_bytes; }
};
// What such a transformer will hold, panels and lines that are filled up included, but for what oneDNN takes. The
// context and the model are valid; nothing is taken.
TransformerMemory memory_for(const TransformerModel& model, const TransformerOptions& options);

// The tokens to append to one slot.
struct SlotTokens {
  int64_t slot = 0;
  std::span<const int32_t> tokens;
};

// Not for several callers at once. Logits, and so tokens, are the same bits whatever the number of threads, and those
// of a sequence whatever stands in other slots, as long as its steps have as many rows: products of few and of many
// rows are summed in different orders (matrix_products.h).
class Transformer {
 public:
  // "unsupported-model", "bad-usage" names the option; "out-of-memory" where what it will hold, and the logits of all
  // slots that its caller will, are more than is free; errors of `weights`.
  static Result<Transformer> create(const TransformerModel& model, const WeightSource& weights,
                                    const TransformerOptions& options);
  // With weights of a seed.
  static Result<Transformer> random(const TransformerModel& model, uint64_t seed, const TransformerOptions& options);
  Transformer(Transformer&&) noexcept;
  Transformer& operator=(Transformer&&) noexcept;
  ~Transformer();

  // Appends tokens to slots, each slot once, and gives the logits behind the last token of each: [slots x vocab], in
  // their order; an empty span: nobody wants them. "bad-token", "bad-slot", "context-full" (nothing was appended then).
  Status prefill(std::span<const SlotTokens> prompts, std::span<float> logits);
  // One token each.
  Status decode(std::span<const SlotTokens> tokens, std::span<float> logits) { return prefill(tokens, logits); }

  // Compiles the products of steps of up to so many tokens, so that none of them waits for it. "onednn-failed".
  Status prepare(int64_t most_tokens);

  int64_t length(int64_t slot) const;  // tokens that the slot holds
  // Forgets all behind the first `length` tokens of a slot.
  void shorten(int64_t slot, int64_t length = 0);
  // For measurements: from here on the slot counts as holding so many tokens, whose keys and values are whatever stands
  // there. At most the context.
  void assume_length(int64_t slot, int64_t length);

  const TransformerModel& model() const;
  const TransformerOptions& options() const;  // with the context, the kernels and the threads that were taken
  TransformerMemory memory() const;
  LlmWorkload workload(LlmPhase phase, int64_t batch, int64_t tokens) const {
    return transformer_workload(options().precision, phase, batch, tokens);
  }

  OperatorClock& clock();

 private:
  struct State;
  explicit Transformer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Rows of one pass; longer prompts take several.
inline constexpr int64_t kPassRows = 512;

}  // namespace perfcast::ai
