#include "ai/serving/engine_step_time.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace perfcast::ai {
namespace {

// Bytes of one token's keys and values in all layers, in the mean over a request at its longest.
double cache_bytes(const EngineWork& work) {
  const auto tokens = static_cast<double>(work.request.prompt_tokens + work.request.output_tokens);
  const double kept = work.window_tokens > 0 ? std::min(1.0, work.window_tokens / tokens) : 1;
  return work.cache_bytes_per_token * (work.attention_layers - work.windowed_layers + kept * work.windowed_layers);
}

}  // namespace

double EngineStepTime::seconds(const StepBatch& batch) const {
  return engine_step_s(profile_, work_, device_, host_,
                       {.decodes = static_cast<double>(batch.decodes),
                        .decode_context_tokens = batch.decode_context_tokens,
                        .prefill_tokens = batch.prefill_tokens,
                        .prefill_pairs = batch.prefill_pairs,
                        .prefill_windowed_pairs = batch.prefill_windowed_pairs}) *
         (batch.prefills > 0 ? scale_.prompts : scale_.tokens);
}

FrontEndTime front_end_time(const EngineProfile& profile, const EngineHost& host, StepScale scale) {
  return {.fixed_s = scale.prompts *
                     std::max(0.0, profile.constants.first_fixed_ms - profile.constants.prompt_step_ms) * 1e-3 /
                     host.level,
          .prompt_token_s = scale.prompts * profile.constants.prompt_token_us * 1e-6 / host.level};
}

Result<EngineLimits> default_limits(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device) {
  if (!(device.memory_bytes > 0)) {
    return Error{"unknown-fact", "the memory of " + printable(device.name) + " is not known, nor what its cache holds",
                 "", "the tokens that fit it (--cache-tokens), or a file of facts (--device-file)"};
  }
  const double share = profile.constants.cache_memory_share;
  const double room = share * device.memory_bytes - work.resident_bytes;
  const double each = cache_bytes(work);
  EngineLimits limits;
  limits.schedules_ahead = profile.overlaps_host;
  limits.step_tokens = static_cast<int64_t>(chunk_tokens(profile, device));
  limits.max_sequences = std::min(limits.max_sequences, limits.step_tokens);
  // A model without a cache (state-space layers alone) is bound by its sequences.
  limits.cache_tokens = each > 0 ? static_cast<int64_t>(std::floor(room / each)) : int64_t{1} << 40;
  if (room <= 0 || limits.cache_tokens < limits.block_tokens) {
    return infeasible_error("no-memory",
                            printable(work.model) + " has " + human_bytes(work.resident_bytes) +
                                " of weights for each device, and " + printable(device.name) + " has " +
                                human_bytes(share * device.memory_bytes) + " for them and a cache",
                            "",
                            "more devices to share the model (--tensor-parallel), a larger one, or fewer bits a weight "
                            "(--weight-precision)");
  }
  return limits;
}

}  // namespace perfcast::ai
