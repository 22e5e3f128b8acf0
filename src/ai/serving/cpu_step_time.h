#pragma once
// Steps of an engine on a CPU server (ai/engine/cpu_engine_batch.h).

#include "ai/engine/cpu_engine_batch.h"
#include "ai/serving/batch_time.h"

namespace perfcast::ai {

class CpuStepTime final : public BatchTime {
 public:
  // Constants, machine and work must outlive it. Factors are those of a forecast's error.
  CpuStepTime(const CpuEngineConstants& constants, const CpuEngineMachine& machine, const LlmWork& work, bool sorts,
              double tokens_scale = 1, double prompts_scale = 1, const CpuBatchConstants& of_batches = {})
      : constants_(constants),
        machine_(machine),
        work_(work),
        sorts_(sorts),
        tokens_scale_(tokens_scale),
        prompts_scale_(prompts_scale),
        of_batches_(of_batches) {}

  double seconds(const StepBatch& batch) const override {
    return (batch.prefills > 0 ? prompts_scale_ : tokens_scale_) *
           cpu_engine_batch_s(constants_, of_batches_, machine_, work_, sorts_,
                              {.decodes = static_cast<double>(batch.decodes),
                               .decode_context_tokens = batch.decode_context_tokens,
                               .prompt_tokens = batch.prefill_tokens,
                               .prompt_pairs = batch.prefill_pairs,
                               .samples = static_cast<double>(batch.decodes + batch.completed_prefills)});
  }

 private:
  const CpuEngineConstants& constants_;
  const CpuEngineMachine& machine_;
  const LlmWork& work_;
  bool sorts_;
  double tokens_scale_, prompts_scale_;
  CpuBatchConstants of_batches_;
};

}  // namespace perfcast::ai
