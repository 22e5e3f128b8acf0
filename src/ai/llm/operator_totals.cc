#include <algorithm>

#include "ai/llm/operator_graph.h"

namespace perfcast::ai {
namespace {

double as_real(int64_t value) { return static_cast<double>(value); }

// Bytes of one layer's and one token's keys and values on one device. A latent is held whole by each device.
double cache_bytes_per_layer(const LlmConfig& config, const LlmWorkload& workload) {
  const int64_t values = config.has_mla() ? config.cache_values_per_token()
                                          : 2 * shard_of(config, workload.tensor_parallel).kv_heads * config.head_dim;
  return as_real(values) * bytes_per_value(workload.kv);
}

// What forward leaves for backward: the inputs of products, norms, activations and softmax. Attention that stays on
// chip keeps its inputs and recomputes the scores.
double kept_activations(const OperatorGraph& graph) {
  double sum = 0;
  for (const LlmOperator& op : graph) {
    if (op.pass != OperatorPass::kForward) continue;
    switch (op.kind) {
      case OperatorKind::kGemm:
      case OperatorKind::kAttentionScores:
      case OperatorKind::kAttentionValues:
      case OperatorKind::kNorm:
      case OperatorKind::kActivation:
      case OperatorKind::kSoftmax:
        sum += op.input_bytes * as_real(op.count);
        break;
      default:
        break;
    }
  }
  return sum;
}

// The widest moment of inference: one operator's inputs and outputs beside the residual stream.
double working_set(const LlmConfig& config, const LlmWorkload& workload, const OperatorGraph& graph) {
  double widest = 0;
  for (const LlmOperator& op : graph) widest = std::max(widest, op.input_bytes + op.output_bytes);
  const double tokens =
      as_real(workload.batch) * (workload.phase == LlmPhase::kDecode ? 1 : as_real(workload.sequence));
  return widest + tokens * as_real(config.hidden) * bytes_per_value(workload.activations);
}

}  // namespace

Result<LlmTotals> total_operators(const LlmConfig& config, const LlmWorkload& workload, const OperatorGraph& graph) {
  const auto parameters = count_parameters(config);
  if (!parameters) return parameters.error();
  const auto held = count_shard_parameters(config, workload.tensor_parallel);
  if (!held) return held.error();

  LlmTotals totals;
  totals.parameters = *parameters;
  for (const LlmOperator& op : graph) {
    totals.macs += op.total_macs();
    totals.flops += op.total_flops();
    totals.traffic_bytes += op.total_bytes();
    totals.link_bytes += op.link_bytes * as_real(op.count);
  }
  totals.intensity = totals.traffic_bytes > 0 ? totals.flops / totals.traffic_bytes : 0;
  totals.weight_bytes = as_real(held->total) * workload.weight_bytes_per_value();

  const bool trains = workload.phase == LlmPhase::kTrain;
  if (config.has_cache() && !trains) {
    const double per_layer = cache_bytes_per_layer(config, workload);
    const int64_t length =
        workload.phase == LlmPhase::kDecode && workload.context > 0 ? workload.context : workload.sequence;
    const int64_t windowed = std::min(length, config.sliding_window);
    const MambaConfig mamba = shard_of(config, workload.tensor_parallel).mamba;
    const double states = as_real(mamba.layers) * as_real(mamba.state_values()) * bytes_per_value(workload.kv);
    totals.kv_bytes_per_token = per_layer * as_real(config.attention_layers());
    totals.kv_bytes =
        as_real(workload.batch) *
        (states + per_layer * (as_real(config.attention_layers() - config.windowed_layers) * as_real(length) +
                               as_real(config.windowed_layers) * as_real(windowed)));
  }
  if (trains) {
    totals.activation_bytes = kept_activations(graph);
    totals.gradient_bytes = as_real(held->total) * bytes_per_value(workload.activations);
    totals.optimizer_bytes = as_real(held->total) * (workload.weight_bytes_per_value() < 4 ? 12 : 8);
  } else {
    totals.activation_bytes = working_set(config, workload, graph);
  }
  totals.memory_bytes =
      totals.weight_bytes + totals.kv_bytes + totals.activation_bytes + totals.gradient_bytes + totals.optimizer_bytes;
  return totals;
}

}  // namespace perfcast::ai
