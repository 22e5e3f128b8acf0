#pragma once
// Steps whose times can be summed by hand.

#include "ai/serving/batch_time.h"

namespace perfcast::ai {

// 10 ms, 1 ms for each sequence that generates, 0.1 ms for each token of a prompt.
class ToyTime final : public BatchTime {
 public:
  double seconds(const StepBatch& batch) const override {
    return 0.010 + 0.001 * static_cast<double>(batch.decodes) + 0.0001 * batch.prefill_tokens;
  }
};

}  // namespace perfcast::ai
