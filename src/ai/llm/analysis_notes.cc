#include "ai/llm/analysis_notes.h"

#include <fmt/format.h>

#include "base/text.h"

namespace perfcast::ai {
namespace {

void note_slides(std::vector<std::string>& notes) {
  notes.emplace_back(
      "the keynote's GEMM table (John, ICPE 2025) lists QK^T with K = 12288, all heads in one row, beside QK*V of one "
      "head: per head QK^T is "
      "2048 x 128 x 2048 = 536,870,912 MACs, as many as QK*V");
  notes.emplace_back(
      "its rows of Q, K, V and QK*V are one head of one layer; the factors 96 (heads) and 96 (layers) are implicit "
      "there "
      "and stand under batch and count, or in N, here");
  notes.emplace_back("it counts one-hot x embedding as 1.288e12 MACs: that is a look-up, and nothing is multiplied");
}

void note_windows(const LlmConfig& config, std::vector<std::string>& notes) {
  if (config.windowed_layers > 0) {
    notes.push_back(fmt::format("{} of {} layers attend to at most {} tokens", config.windowed_layers, config.layers,
                                config.sliding_window));
  }
  if (config.mamba.layers > 0) {
    notes.push_back(
        fmt::format("{} of {} layers are Mamba's: each keeps {} values of a sequence, however long that is; their scan "
                    "counts as steps from token to token",
                    config.mamba.layers, config.layers, config.mamba.state_values()));
  }
}

void note_attention(const LlmConfig& config, const LlmWorkload& workload, std::vector<std::string>& notes) {
  const bool decodes = workload.phase == LlmPhase::kDecode;
  if (config.has_cache() && !decodes && !workload.skip_masked) {
    notes.emplace_back("attention computes the whole rectangle of scores, also what the causal mask hides");
  }
  if (workload.fused_attention) {
    notes.emplace_back("scores stay on chip (fused attention): their bytes don't count");
  }
  note_windows(config, notes);
  if (config.has_mla()) {
    notes.emplace_back(
        decodes ? "latent attention in its absorbed form: queries go into the latent space and all heads read one cache"
                : "latent attention in its expanded form: keys and values of every head are computed from the latent");
  }
  const int64_t length = decodes && workload.context > 0 ? workload.context : workload.sequence;
  if (config.max_positions > 0 && length > config.max_positions) {
    notes.push_back(
        fmt::format("{} tokens are more than the {} that the model was made for", length, config.max_positions));
  }
}

void note_experts(const LlmConfig& config, const LlmWorkload& workload, std::vector<std::string>& notes) {
  if (!config.has_moe()) return;
  const auto tokens = static_cast<double>(workload.batch) *
                      static_cast<double>(workload.phase == LlmPhase::kDecode ? 1 : workload.sequence);
  notes.push_back(
      fmt::format("a token visits {} of {} experts; a step of {:.4g} is expected to touch {:.4g} of them a layer "
                  "(uniform routing), "
                  "and reads the weights of these",
                  config.moe.active_experts, config.moe.experts, tokens,
                  expected_distinct_experts(config.moe.experts, config.moe.active_experts, tokens)));
}

void note_devices(const LlmConfig& config, const LlmWorkload& workload, std::vector<std::string>& notes) {
  const int64_t devices = workload.tensor_parallel;
  if (devices == 1) return;
  notes.push_back(fmt::format("operators, bytes and memory are those of one of {} devices", devices));
  if (!config.has_mla() && devices > config.kv_heads) {
    notes.push_back(fmt::format("{} key-value heads on {} devices: each is held {} times", config.kv_heads, devices,
                                devices / config.kv_heads));
  }
  if (config.has_mla()) notes.emplace_back("every device holds the latent cache whole");
  if (config.vocab % devices != 0) {
    notes.push_back(fmt::format("the vocabulary of {} is padded to {}", config.vocab,
                                (config.vocab + devices - 1) / devices * devices));
  }
}

// What a quantization_config says is a note of the config.
void note_weights(const LlmConfig& config, const LlmWorkload& workload, std::vector<std::string>& notes) {
  if (workload.weight_bits_per_value && config.stored_weight_name.empty()) {
    notes.push_back(fmt::format("the file stores {:.3f} bits per weight on average", *workload.weight_bits_per_value));
  } else if (!workload.weight_bits_per_value && info(workload.weights).weights_only) {
    notes.push_back(fmt::format("{} takes {:.4g} bits per weight with its scales, for all parameters alike",
                                info(workload.weights).name, info(workload.weights).bits_per_value));
  }
}

void note_step(const LlmConfig& config, const LlmWorkload& workload, std::vector<std::string>& notes) {
  if (workload.phase == LlmPhase::kTrain) {
    notes.emplace_back(
        "training: two products for each product of the forward pass, nothing recomputed, Adam with "
        "fp32 moments; gradients are not exchanged between replicas");
  }
  if (config.kind == LlmKind::kVision) notes.emplace_back("batch counts images");
}

}  // namespace

std::vector<std::string> analysis_notes(const LlmConfig& config, const LlmWorkload& workload) {
  std::vector<std::string> notes = config.notes;
  if (config.name == "gpt3") note_slides(notes);
  note_attention(config, workload, notes);
  note_experts(config, workload, notes);
  note_devices(config, workload, notes);
  note_weights(config, workload, notes);
  note_step(config, workload, notes);
  return notes;
}

std::vector<std::string> model_notes(const LlmConfig& config, const LlmWorkload& workload) {
  std::vector<std::string> notes = config.notes;
  note_windows(config, notes);
  note_weights(config, workload, notes);
  return notes;
}

}  // namespace perfcast::ai
