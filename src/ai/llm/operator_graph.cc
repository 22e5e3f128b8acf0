#include "ai/llm/operator_graph.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "ai/llm/graph_builder.h"

namespace perfcast::ai {
namespace {

constexpr int64_t kMostTokens = int64_t{1} << 40;
constexpr double kMostScores = 1e15;  // of scores: tokens x heads, far inside 64 bits
constexpr int64_t kMostDevices = 1 << 20;
constexpr int64_t kUsualSequence = 2048;

Error bad_workload(std::string message, std::string where, std::string expected) {
  return usage_error("bad-usage", std::move(message), std::move(where), std::move(expected));
}

Status check_sizes(const LlmConfig& config, const LlmWorkload& workload) {
  const struct {
    const char* name;
    int64_t value, least;
  } sizes[] = {{"batch", workload.batch, 1}, {"sequence", workload.sequence, 1}, {"context", workload.context, 0}};
  for (const auto& size : sizes) {
    if (size.value < size.least || size.value > kMostTokens) {
      return bad_workload(std::string(size.name) + " is " + std::to_string(size.value), size.name,
                          "from " + std::to_string(size.least) + " to " + std::to_string(kMostTokens));
    }
  }
  const int64_t longest = std::max(workload.sequence, workload.context);
  const double rows = static_cast<double>(workload.batch) * static_cast<double>(longest) *
                      static_cast<double>(config.heads + config.kv_heads);
  const double visits = static_cast<double>(workload.batch) * static_cast<double>(longest) *
                        static_cast<double>(std::max<int64_t>(1, config.moe.active_experts));
  if (rows > kMostScores || visits > kMostScores) {
    return Error{"size-overflow",
                 "batch " + std::to_string(workload.batch) + " of " + std::to_string(longest) +
                     " tokens gives more than 1e15 rows",
                 "batch", "a smaller batch or sequence"};
  }
  return {};
}

Status check_phase(const LlmConfig& config, const LlmWorkload& workload) {
  if (workload.phase == LlmPhase::kDecode && config.kind != LlmKind::kDecoder) {
    return bad_workload(config.name + " is an encoder and generates no tokens", "phase", "prefill or train");
  }
  if (config.kind == LlmKind::kVision && workload.sequence != config.vision.tokens()) {
    return bad_workload("an image of " + config.name + " is not " + std::to_string(workload.sequence) + " tokens",
                        "sequence", std::to_string(config.vision.tokens()) + ", its patches and the class token");
  }
  const int64_t length =
      workload.phase == LlmPhase::kDecode && workload.context > 0 ? workload.context : workload.sequence;
  if (config.positions == PositionKind::kLearned && length > config.position_rows) {
    return bad_workload(std::to_string(length) + " tokens are more than the positions that " + config.name + " learned",
                        workload.phase == LlmPhase::kDecode ? "context" : "sequence",
                        "at most " + std::to_string(config.position_rows));
  }
  return {};
}

Status check_precision(const LlmWorkload& workload) {
  if (info(workload.activations).weights_only) {
    return bad_workload(std::string(info(workload.activations).name) + " is a format of weights", "precision",
                        "fp32, tf32, fp16, bf16, fp8 or int8 for activations");
  }
  if (workload.weight_bits_per_value && !(*workload.weight_bits_per_value > 0)) {
    return bad_workload("weights of no bits", "weights", "above 0");
  }
  if (workload.phase == LlmPhase::kTrain && (info(workload.weights).weights_only || workload.weight_bits_per_value)) {
    return bad_workload("quantised weights are not trained", "weights", "fp32, tf32, fp16, bf16 or fp8");
  }
  return {};
}

Status check_parallel(const LlmConfig& config, const LlmWorkload& workload) {
  const int64_t devices = workload.tensor_parallel;
  if (devices < 1 || devices > kMostDevices) {
    return bad_workload("tensor-parallel degree " + std::to_string(devices), "tensor-parallel",
                        "from 1 to " + std::to_string(kMostDevices));
  }
  if (devices == 1) return {};
  const bool attends = config.attention_layers() > 0;
  const struct {
    const char* name;
    int64_t value;
  } split[] = {{"heads", attends ? config.heads : 0}, {"ffn", config.dense_ffn_layers() > 0 ? config.ffn : 0},
               {"expert_ffn", config.moe.expert_ffn}, {"shared_ffn", config.moe.shared_ffn},
               {"mamba inner", config.mamba.inner},   {"mamba heads", config.mamba.heads}};
  for (const auto& part : split) {
    if (part.value % devices == 0) continue;
    return bad_workload(std::to_string(devices) + " devices can't share " + part.name + " " +
                            std::to_string(part.value) + " of " + config.name,
                        "tensor-parallel", "a divisor of it");
  }
  if (attends && config.kv_heads % devices != 0 && devices % config.kv_heads != 0) {
    return bad_workload(std::to_string(devices) + " devices can neither share nor repeat the " +
                            std::to_string(config.kv_heads) + " key-value heads of " + config.name,
                        "tensor-parallel", "a divisor or a multiple of them");
  }
  return {};
}

}  // namespace

const LlmOperator* OperatorGraph::find(OperatorName name, OperatorPass pass) const {
  const auto* found =
      std::find_if(begin(), end(), [&](const LlmOperator& op) { return op.name == name && op.pass == pass; });
  return found == end() ? nullptr : found;
}

LlmOperator& OperatorGraph::add() {
  assert(size_ < kCapacity);  // three times the names, so no model has more
  LlmOperator& op = operators_[size_++];
  op = LlmOperator();
  return op;
}

int64_t usual_sequence(const LlmConfig& config) {
  if (config.kind == LlmKind::kVision) return config.vision.tokens();
  return config.max_positions > 0 ? std::min(config.max_positions, kUsualSequence) : kUsualSequence;
}

double expected_distinct_experts(int64_t experts, int64_t active, double tokens) {
  const double all = static_cast<double>(experts);
  if (tokens <= 0 || active <= 0) return 0;
  if (active >= experts) return all;
  return -all * std::expm1(tokens * std::log1p(-static_cast<double>(active) / all));
}

ModelShard shard_of(const LlmConfig& config, int64_t devices) {
  MambaConfig mamba = config.mamba;
  mamba.inner /= devices;
  mamba.heads /= devices;
  if (mamba.is_second()) mamba.groups = std::max<int64_t>(1, mamba.groups / devices);
  return {std::max<int64_t>(1, config.heads / devices),
          std::max<int64_t>(1, config.kv_heads / devices),
          config.ffn / devices,
          config.moe.expert_ffn / devices,
          config.moe.shared_ffn / devices,
          (config.vocab + devices - 1) / devices,
          mamba};
}

Result<ParameterCount> count_shard_parameters(const LlmConfig& config, int64_t devices) {
  if (devices == 1) return count_parameters(config);
  const ModelShard shard = shard_of(config, devices);
  LlmConfig part = config;
  part.heads = shard.heads;
  part.kv_heads = shard.kv_heads;
  part.ffn = shard.ffn;
  part.moe.expert_ffn = shard.expert_ffn;
  part.moe.shared_ffn = shard.shared_ffn;
  part.vocab = shard.vocab;
  part.mamba = shard.mamba;
  return count_parameters(part);
}

Status check_workload(const LlmConfig& config, const LlmWorkload& workload) {
  if (Status status = check_sizes(config, workload); !status) return status;
  if (Status status = check_phase(config, workload); !status) return status;
  if (Status status = check_precision(workload); !status) return status;
  return check_parallel(config, workload);
}

Status build_operators(const LlmConfig& config, const LlmWorkload& workload, OperatorGraph& graph) {
  graph.clear();
  if (Status status = check_workload(config, workload); !status) return status;
  ForwardBuilder(config, workload, graph).build();
  if (workload.phase == LlmPhase::kTrain) {
    append_backward(workload, graph);
    const auto held = count_shard_parameters(config, workload.tensor_parallel);
    if (!held) return held.error();
    append_optimizer(static_cast<double>(held->total), workload, graph);
  }
  return {};
}

}  // namespace perfcast::ai
