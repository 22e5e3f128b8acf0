#pragma once
// A transformer's operators measured on this machine, as a simulated engine takes them.

#include <cstdint>
#include <functional>
#include <string>

#include "ai/serving/measured_steps.h"
#include "ai/transformer/transformer.h"
#include "base/result.h"

namespace perfcast::ai {

struct StepCalibrationOptions {
  int64_t step_tokens = kPassRows;  // of the engine's steps, at most kPassRows
  int64_t rounds = 5;               // each time is a median of so many
  uint64_t seed = 1;                // of the steps that are checked
  std::function<bool()> is_interrupted;
};

// What the transformer's slots held is forgotten. Some seconds for each 10 million parameters. "interrupted"; errors of
// Transformer::prefill().
Result<MeasuredSteps> calibrate_steps(Transformer& transformer, const StepCalibrationOptions& options);

// What such an engine holds: its slots, each at its longest.
EngineLimits limits_of(const TransformerOptions& options, int64_t step_tokens);

}  // namespace perfcast::ai
