#pragma once
// Steps of a named engine on a device, by the forecast of its kernels and its host (ai/engine).

#include "ai/engine/engine_profile.h"
#include "ai/engine/engine_step.h"
#include "ai/serving/batch_time.h"
#include "ai/serving/replica.h"
#include "base/result.h"

namespace perfcast::ai {

// A forecast's error, as factors: of steps that only generate, of steps with prompts and of the front end.
struct StepScale {
  double tokens = 1, prompts = 1;
};

// What guesses the next tokens, one after the other: each takes so much of a step's time without guesses.
struct DraftTime {
  int64_t tokens = 0;
  double share = 0;
};

class EngineStepTime final : public BatchTime {
 public:
  // All must outlive it; the device is checked (check_engine_device).
  EngineStepTime(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                 const EngineHost& host, StepScale scale = {}, DraftTime draft = {})
      : profile_(profile), work_(work), device_(device), host_(host), scale_(scale), draft_(draft) {}

  double seconds(const StepBatch& batch) const override;
  // By the rule of machine/meter/accelerator_power.h, of tensor_parallel devices.
  double joules(const StepBatch& batch, double seconds) const override;
  double window_tokens() const override { return work_.windowed_layers > 0 ? work_.window_tokens : 0; }

 private:
  const EngineProfile& profile_;
  const EngineWork& work_;
  const DeviceFacts& device_;
  const EngineHost& host_;
  StepScale scale_;
  DraftTime draft_;
};

// Watts of an engine's devices between steps; NaN where a device's power isn't known.
double idle_power_w(const EngineWork& work, const DeviceFacts& device);

FrontEndTime front_end_time(const EngineProfile& profile, const EngineHost& host, StepScale scale = {});

// Bytes of one token's keys and values on one device of a stage, in the mean over a request at its longest: layers with
// a window keep no more than it.
double cache_bytes_of(const EngineWork& work);

// As the engine sets them by itself: tokens of a step, and what fits the cache beside the weights on
// work.request.tensor_parallel devices. Layers with a window keep no more than it of the work's mean request.
// "unknown-fact" without the device's memory; "no-memory" where the cache holds no block, with how many such devices
// would hold the weights.
Result<EngineLimits> default_limits(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device);

}  // namespace perfcast::ai
