#include "ai/serving/engine_step_time.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "machine/meter/accelerator_power.h"

namespace perfcast::ai {
namespace {

EngineBatch engine_batch(const StepBatch& batch) {
  return {.decodes = static_cast<double>(batch.decodes),
          .decode_context_tokens = batch.decode_context_tokens,
          .prefill_tokens = batch.prefill_tokens,
          .prefill_pairs = batch.prefill_pairs,
          .prefill_windowed_pairs = batch.prefill_windowed_pairs,
          .tokens_per_decode = static_cast<double>(batch.tokens_per_decode),
          .samples = static_cast<double>(batch.decodes * batch.tokens_per_decode + batch.completed_prefills),
          .shared_tokens = batch.shared_tokens};
}

// NaN for a CPU: the rule is that of accelerators.
double board_power_w(const DeviceFacts& device) { return device.kind == DeviceKind::kCpu ? kUnknown : device.power_w; }

}  // namespace

double cache_bytes_of(const EngineWork& work) {
  const auto tokens = static_cast<double>(work.request.prompt_tokens + work.request.output_tokens);
  const double kept = work.window_tokens > 0 ? std::min(1.0, work.window_tokens / tokens) : 1;
  return work.cache_bytes_per_token * (work.attention_layers - work.windowed_layers + kept * work.windowed_layers) /
         static_cast<double>(work.request.pipeline_stages);
}

double EngineStepTime::seconds(const StepBatch& batch) const {
  double seconds = engine_step_s(profile_, work_, device_, host_, engine_batch(batch));
  if (draft_.tokens > 0 && batch.decodes > 0) {
    const EngineBatch one{.decodes = static_cast<double>(batch.decodes),
                          .decode_context_tokens = batch.decode_context_tokens};
    seconds += static_cast<double>(draft_.tokens) * draft_.share * engine_step_s(profile_, work_, device_, host_, one);
  }
  return seconds * (batch.prefills > 0 ? scale_.prompts : scale_.tokens);
}

double EngineStepTime::joules(const StepBatch& batch, double seconds) const {
  // Guesses draw as much as the step that checks them.
  double checked_s = seconds;
  if (draft_.tokens > 0 && batch.decodes > 0) {
    checked_s = engine_step_s(profile_, work_, device_, host_, engine_batch(batch)) *
                (batch.prefills > 0 ? scale_.prompts : scale_.tokens);
  }
  return accelerator_power_ratio(engine_step_load(work_, device_, engine_batch(batch), checked_s)) *
         board_power_w(device_) * static_cast<double>(work_.request.tensor_parallel) * seconds;
}

double idle_power_w(const EngineWork& work, const DeviceFacts& device) {
  return accelerator_power_ratio({}) * board_power_w(device) * static_cast<double>(work.request.tensor_parallel);
}

FrontEndTime front_end_time(const EngineProfile& profile, const EngineHost& host, StepScale scale) {
  const EngineConstants& c = profile.constants;
  const double prompts = scale.prompts / host.level;
  return {.fixed_s = prompts * 1e-3 * std::max(0.0, c.first_fixed_ms - c.prompt_step_ms - c.front_request_ms),
          .request_s = prompts * 1e-3 * c.front_request_ms,
          .prompt_token_s = prompts * 1e-6 * c.prompt_token_us,
          .token_s = scale.tokens / host.level * 1e-6 * c.front_token_us};
}

Result<EngineLimits> default_limits(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device) {
  if (!(device.memory_bytes > 0)) {
    return Error{"unknown-fact", "the memory of " + printable(device.name) + " is not known, nor what its cache holds",
                 "", "the tokens that fit it (--cache-tokens), or a file of facts (--device-file)"};
  }
  const double share = profile.constants.cache_memory_share;
  const double room = share * device.memory_bytes - work.resident_bytes;
  const double each = cache_bytes_of(work);
  EngineLimits limits;
  limits.schedules_ahead = profile.overlaps_host;
  limits.prompts_apart = !profile.mixes_prompts;
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
