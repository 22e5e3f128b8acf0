#include "ai/engine/cpu_engine_batch.h"

#include <algorithm>

namespace perfcast::ai {

double cpu_engine_batch_s(const CpuEngineConstants& constants, const CpuBatchConstants& of_batches,
                          const CpuEngineMachine& machine, const LlmWork& work, bool sorts,
                          const CpuEngineBatch& batch) {
  const double tokens = batch.decodes + batch.prompt_tokens;
  const double pairs = batch.decode_context_tokens + batch.prompt_pairs;
  const CpuEngineStep step =
      cpu_engine_step(constants, machine, work, sorts, tokens, batch.samples, tokens > 0 ? pairs / tokens : 0);
  const double others = std::max(0.0, batch.samples - 1), n = machine.threads;
  // Those of one sequence are part of its single stream's constants.
  const double keys = batch.decode_context_tokens * std::max(0.0, 1 - 1 / std::max(1.0, batch.decodes));
  double seconds = step.seconds - step.sort_s;
  seconds += of_batches.key_product_ns * 1e-9 * keys * work.attention_macs_per_token_token / n;
  seconds += others * of_batches.sequence_ms * 1e-3 * cpu_engine_slowness(constants, machine);
  if (step.sort_s > 0) seconds += step.sort_s / batch.samples * (1 + others / n);
  const bool has_company = batch.prompt_tokens > 0 && batch.samples > 1;
  return seconds * (has_company ? of_batches.prompt_ratio : 1);
}

}  // namespace perfcast::ai
