#include <cassert>

#include "ai/llm/graph_builder.h"

namespace perfcast::ai {
namespace {

// Y = X W: dX = dY W^T and dW = X^T dY, each as many products as forward. The gradient of the weights is kept as wide
// as activations. Where one launch has several products (experts), so has each gradient.
void gemm_gradients(const LlmOperator& forward, bool needs_input_gradient, double gradient_bytes,
                    OperatorGraph& graph) {
  if (needs_input_gradient) {
    LlmOperator& op = graph.add();
    op = forward;
    op.pass = OperatorPass::kInputGradient;
    op.k = forward.n;
    op.n = forward.k;
    op.flops = 2 * forward.macs;
    op.input_bytes = forward.output_bytes;
    op.output_bytes = forward.input_bytes;
  }
  LlmOperator& op = graph.add();
  op = forward;
  op.pass = OperatorPass::kWeightGradient;
  op.m = forward.k;
  op.k = forward.m;
  op.weight_bytes = 0;
  op.input_bytes = forward.input_bytes + forward.output_bytes;
  op.output_bytes = forward.weight_bytes * gradient_bytes;
}

// S = Q K^T: dQ = dS K, dK = dS^T Q. O = P V: dP = dO V^T, dV = P^T dO.
void attention_gradients(const LlmOperator& forward, OperatorGraph& graph) {
  const bool is_scores = forward.kind == OperatorKind::kAttentionScores;
  LlmOperator& left = graph.add();
  left = forward;
  left.pass = OperatorPass::kInputGradient;
  left.k = forward.n;
  left.n = forward.k;
  LlmOperator& right = graph.add();
  right = forward;
  right.pass = OperatorPass::kWeightGradient;
  // dK is keys x width over the queries, dV likewise.
  right.m = is_scores ? forward.n : forward.k;
  right.k = forward.m;
  right.n = is_scores ? forward.k : forward.n;
  for (LlmOperator* op : {&left, &right}) {
    op->input_bytes = forward.input_bytes / 2 + forward.output_bytes;
    op->output_bytes = forward.input_bytes / 2;
  }
}

void other_gradient(const LlmOperator& forward, OperatorGraph& graph) {
  LlmOperator& op = graph.add();
  op = forward;
  op.pass = OperatorPass::kBackward;
  switch (forward.kind) {
    case OperatorKind::kNorm:
    case OperatorKind::kSoftmax:
    case OperatorKind::kActivation:  // reads what came in and the gradient of what went out
      op.flops = 2 * forward.flops;
      op.input_bytes = forward.input_bytes + forward.output_bytes;
      op.output_bytes = forward.input_bytes;
      return;
    case OperatorKind::kEmbedding:  // adds each gradient to its row
      op.flops = static_cast<double>(forward.m) * static_cast<double>(forward.n);
      op.input_bytes = forward.output_bytes;
      op.output_bytes = forward.weight_bytes;
      return;
    default:  // as many bytes and operations the other way
      op.input_bytes = forward.output_bytes;
      op.output_bytes = forward.input_bytes;
  }
}

}  // namespace

void append_backward(const LlmWorkload& workload, OperatorGraph& graph) {
  const double gradient_bytes = bytes_per_value(workload.activations) / workload.weight_bytes_per_value();
  for (size_t i = graph.size(); i > 0; --i) {
    const LlmOperator forward = graph[i - 1];
    assert(forward.pass == OperatorPass::kForward);
    switch (forward.kind) {
      case OperatorKind::kGemm:
        gemm_gradients(forward, forward.name != OperatorName::kPatchEmbedding, gradient_bytes, graph);
        break;
      case OperatorKind::kAttentionScores:
      case OperatorKind::kAttentionValues:
        attention_gradients(forward, graph);
        break;
      default:
        other_gradient(forward, graph);
    }
  }
}

void append_optimizer(double parameters, const LlmWorkload& workload, OperatorGraph& graph) {
  const double weight_bytes = workload.weight_bytes_per_value();
  const double gradient_bytes = bytes_per_value(workload.activations);
  const bool has_master = weight_bytes < 4;
  LlmOperator& op = graph.add();
  op.name = OperatorName::kOptimizer;
  op.kind = OperatorKind::kElementwise;
  op.pass = OperatorPass::kUpdate;
  op.m = 1;
  op.n = static_cast<int64_t>(parameters);
  op.flops = kAdamFlops * parameters;
  // Gradient, two moments and the fp32 weights in; moments and weights out, and their short form where there is one.
  op.input_bytes = parameters * (gradient_bytes + 12);
  op.output_bytes = parameters * (12 + (has_master ? weight_bytes : 0));
}

}  // namespace perfcast::ai
