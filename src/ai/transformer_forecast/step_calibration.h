#pragma once
// A transformer's operators measured on this machine, as a simulated engine takes them.

#include <cstdint>
#include <functional>
#include <memory>

#include "ai/serving/measured_steps.h"
#include "ai/transformer/transformer.h"
#include "base/result.h"

namespace perfcast::ai {

// Rounds may be run at several moments: medians of all are taken. What the transformer's slots held is forgotten.
class StepCalibration {
 public:
  // The transformer must outlive it. `step_tokens`: of the engine's steps, at most kPassRows. `seed`: of the steps that
  // are checked.
  StepCalibration(Transformer& transformer, int64_t step_tokens, uint64_t seed);
  ~StepCalibration();

  // Every step once; a second for each 10 million parameters, about. "interrupted" where `is_interrupted`, which is
  // asked between steps, says so; errors of Transformer::prefill().
  Status run_round(const std::function<bool()>& is_interrupted = {});
  // Of at least one round.
  MeasuredSteps fit() const;

 private:
  class Steps;
  std::unique_ptr<Steps> steps_;
};

// What such an engine holds: its slots, each at its longest.
EngineLimits limits_of(const TransformerOptions& options, int64_t step_tokens);

}  // namespace perfcast::ai
