#pragma once
// What a step of a serving engine takes on a CPU server with several sequences in it: prompts, and sequences that
// generate. It goes on from single streams (cpu_engine_step.h):
//
//   step(D sequences that generate and see K keys in sum, P tokens of prompts with Q pairs of a query and a key, S
//        sequences that get a token) on n threads
//     = cpu_engine_step() of D + P tokens of S sequences with K + Q pairs, less its sort
//     + products of attention with K (1 - 1 / D) keys x key / n
//     + (S - 1) x sequence x slowness             scheduler, inputs and text of each sequence
//     + sort of one sequence x (1 + (S - 1) / n)  threads order vocabularies side by side
//   all x prompt where a prompt has company: the cores multiply larger blocks
//
// With one sequence it is cpu_engine_step()'s.

#include "ai/cpu_tokens/llm_work.h"
#include "ai/engine/cpu_engine_step.h"

namespace perfcast::ai {

// Of all CPU models together: full throughput of vLLM 0.22 (studies/serving/cpu_serving_reproduction.cc).
struct CpuBatchConstants {
  double sequence_ms = 1.35;
  double key_product_ns = 0.11;  // of a product of attention of a sequence that generates, on one thread
  double prompt_ratio = 0.88;    // of a step with a prompt and other sequences
  double log_half_width = 1.4;   // of a step, so that an interval holds 90% of tokens/s on CPU models left out
};

// Sums over the sequences of a step.
struct CpuEngineBatch {
  double decodes = 0, decode_context_tokens = 0;
  double prompt_tokens = 0, prompt_pairs = 0;
  double samples = 0;  // sequences that get a token
};

// Seconds, above 0.
double cpu_engine_batch_s(const CpuEngineConstants& constants, const CpuBatchConstants& of_batches,
                          const CpuEngineMachine& machine, const LlmWork& work, bool sorts,
                          const CpuEngineBatch& batch);

}  // namespace perfcast::ai
