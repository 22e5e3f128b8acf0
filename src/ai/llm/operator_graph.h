#pragma once
// A step of a transformer as the list of its operators.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "ai/llm/model_config.h"
#include "ai/llm/operator.h"
#include "ai/llm/precision.h"
#include "base/result.h"

namespace perfcast::ai {

enum class LlmPhase {
  kPrefill,  // `sequence` tokens of each sequence at once
  kDecode,   // one new token of each sequence, attending to `context` tokens, itself included
  kTrain,    // forward, backward and update over `sequence` tokens
};

struct LlmWorkload {
  LlmPhase phase = LlmPhase::kPrefill;
  int64_t batch = 1;     // sequences (images)
  int64_t sequence = 1;  // ViT: its patches and the class token
  int64_t context = 0;   // decode only; 0: `sequence`
  Precision weights = Precision::kFp16;
  Precision activations = Precision::kFp16;
  Precision kv = Precision::kFp16;
  // In the place of the bits of `weights`: what a file's tensors come to on average.
  std::optional<double> weight_bits_per_value;
  int64_t tensor_parallel = 1;
  bool head_all_positions = true;  // else prefill computes logits of the last position alone
  bool fused_attention = true;     // scores stay on chip (FlashAttention); else they go through memory
  bool skip_masked = false;        // causal attention computes no masked score; else the full rectangle

  double weight_bytes_per_value() const {
    return weight_bits_per_value ? *weight_bits_per_value / 8 : bytes_per_value(weights);
  }
};

// Holds the operators in place; build_operators() fills it anew, so a sweep reuses one.
class OperatorGraph {
 public:
  static constexpr size_t kCapacity = 216;  // three times the names
  LlmOperator* begin() { return operators_.data(); }
  LlmOperator* end() { return operators_.data() + size_; }
  const LlmOperator* begin() const { return operators_.data(); }
  const LlmOperator* end() const { return operators_.data() + size_; }
  size_t size() const { return size_; }
  const LlmOperator& operator[](size_t i) const { return operators_[i]; }
  // The first operator of this name and pass, or null.
  const LlmOperator* find(OperatorName name, OperatorPass pass = OperatorPass::kForward) const;
  // The next free place, reset; for build_operators().
  LlmOperator& add();
  void clear() { size_ = 0; }

 private:
  std::array<LlmOperator, kCapacity> operators_;
  size_t size_ = 0;
};

// A sequence to start with: 2,048 tokens or the most that the model has positions for; of ViT its patches.
int64_t usual_sequence(const LlmConfig& config);

// What one of `tensor_parallel` devices holds: the same architecture with fewer heads, narrower FFN and Mamba layers
// and a slice of the vocabulary (rounded up). Norms, position tables, routers and MLA's down projections are held by
// every device, and key-value heads are repeated where there are fewer than devices.
struct ModelShard {
  int64_t heads, kv_heads, ffn, expert_ffn, shared_ffn, vocab;
  MambaConfig mamba;
};
ModelShard shard_of(const LlmConfig& config, int64_t tensor_parallel);
// Parameters of one device; count_parameters() where tensor_parallel is 1.
Result<ParameterCount> count_shard_parameters(const LlmConfig& config, int64_t tensor_parallel);

// Whether the workload fits the model: "bad-usage" names the field, "size-overflow" where counts would not fit. A
// sequence longer than the model's positions is refused for learned tables only. tensor_parallel must divide the heads,
// the FFN widths and, above the number of key-value heads, be their multiple (they are then replicated).
Status check_workload(const LlmConfig& config, const LlmWorkload& workload);

// Fills `graph` with the operators of one step in the order of execution; layers of one kind are one entry with their
// count. `config` must have passed check_config(); the workload is checked. MLA is expanded for prefill and training
// and absorbed for decode. The vocabulary is padded up to a multiple of tensor_parallel.
Status build_operators(const LlmConfig& config, const LlmWorkload& workload, OperatorGraph& graph);

// Experts of E that at least one of `tokens` visits, each token `active` of them, under uniform routing:
// E * (1 - (1 - active / E)^tokens).
double expected_distinct_experts(int64_t experts, int64_t active, double tokens);

// What the step comes to. Bytes and operations are of one device of tensor_parallel.
struct LlmTotals {
  ParameterCount parameters;  // of the whole model
  double macs = 0, flops = 0;
  double traffic_bytes = 0;       // read and written, all operators
  double link_bytes = 0;          // sent by collectives
  double intensity = 0;           // flops / traffic_bytes
  double weight_bytes = 0;        // stored weights, one device
  double kv_bytes_per_token = 0;  // all layers, one device, before windows cap it
  double kv_bytes = 0;            // whole batch at its length, windows and Mamba's states in it; one device
  double activation_bytes = 0;    // largest working set of one operator (inference) or all that is kept (training)
  double optimizer_bytes = 0;     // training: fp32 master weights and two Adam moments
  double gradient_bytes = 0;      // training
  double memory_bytes = 0;        // sum of what must be held
};

Result<LlmTotals> total_operators(const LlmConfig& config, const LlmWorkload& workload, const OperatorGraph& graph);

}  // namespace perfcast::ai
