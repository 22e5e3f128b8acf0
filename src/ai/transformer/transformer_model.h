#pragma once
// What is run: decoders of Llama's form, which are three of ours and those whose config.json says so.

#include <string>
#include <string_view>
#include <vector>

#include "ai/llm/model_config.h"
#include "ai/llm/operator_graph.h"
#include "base/result.h"

namespace perfcast::ai {

// A config as `llm analyze` has it, and the two numbers that its operators don't need.
struct TransformerModel {
  LlmConfig config;
  double norm_epsilon = 1e-5;
  double rope_theta = 10000;
};

// "perfcast-15m", "perfcast-110m", "perfcast-400m", smallest first: about as many million parameters.
std::vector<std::string> built_in_transformers();
// "unknown-model" with the names.
Result<TransformerModel> built_in_transformer(std::string_view name);

// What of the model's form this can't run, all of it in one "unsupported-model": no decoder, other norms, positions or
// activations, biases, experts, windows, latent attention, norms of queries, sizes that aren't multiples of 16. Also
// check_config()'s errors.
Status check_transformer(const LlmConfig& config);

// A step as `llm analyze` is asked for it: fp32 activations and cache, weights as they are stored.
LlmWorkload transformer_workload(Precision weights, LlmPhase phase, int64_t batch, int64_t tokens);

}  // namespace perfcast::ai
