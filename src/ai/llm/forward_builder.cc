#include <algorithm>
#include <cmath>

#include "ai/llm/graph_builder.h"

namespace perfcast::ai {
namespace {

double real(int64_t value) { return static_cast<double>(value); }

// Pairs of a query and a key it may see, where query i of `queries` sees min(i, window) keys.
double causal_pairs(int64_t queries, int64_t window) {
  const double n = real(queries);
  const double w = real(std::min(queries, window));
  return w * (w + 1) / 2 + (n - w) * w;
}

// One launch does `batch` such products, each with weights of its own.
void repeat(LlmOperator& op, int64_t batch) {
  const double times = real(batch);
  op.batch = batch;
  op.macs *= times;
  op.flops *= times;
  op.weight_bytes *= times;
  op.input_bytes *= times;
  op.output_bytes *= times;
}

}  // namespace

double activation_flops(ActivationKind activation) {
  switch (activation) {
    case ActivationKind::kRelu:
      return 1;
    case ActivationKind::kGelu:
      return 5;  // x / sqrt(2), erf, + 1, * x, / 2
    case ActivationKind::kGeluTanh:
      return 9;
    case ActivationKind::kSilu:
      return 4;  // negate, exponential, + 1, divide
  }
  return 0;
}

ForwardBuilder::ForwardBuilder(const LlmConfig& config, const LlmWorkload& workload, OperatorGraph& graph)
    : config_(config),
      workload_(workload),
      graph_(graph),
      shard_(shard_of(config, workload.tensor_parallel)),
      tokens_(workload.phase == LlmPhase::kDecode ? workload.batch : workload.batch * workload.sequence),
      queries_(workload.phase == LlmPhase::kDecode ? 1 : workload.sequence),
      keys_(workload.phase == LlmPhase::kDecode && workload.context > 0 ? workload.context : workload.sequence),
      weight_(workload.weight_bytes_per_value()),
      activation_(bytes_per_value(workload.activations)),
      cache_(bytes_per_value(workload.kv)),
      caches_(config.has_cache() && workload.phase != LlmPhase::kTrain),
      absorbed_(config.has_mla() && workload.phase == LlmPhase::kDecode) {}

LlmOperator& ForwardBuilder::product(OperatorName name, int64_t m, int64_t k, int64_t n, int64_t count, bool bias) {
  LlmOperator& op = graph_.add();
  op.name = name;
  op.kind = OperatorKind::kGemm;
  op.m = m;
  op.k = k;
  op.n = n;
  op.count = count;
  op.macs = real(m) * real(k) * real(n);
  op.flops = 2 * op.macs + (bias ? real(m) * real(n) : 0);
  op.weight_bytes = (real(k) + (bias ? 1 : 0)) * real(n) * weight_;
  op.input_bytes = real(m) * real(k) * activation_;
  op.output_bytes = real(m) * real(n) * activation_;
  return op;
}

LlmOperator& ForwardBuilder::rows(OperatorName name, OperatorKind kind, int64_t m, int64_t n, int64_t count,
                                  double flops_per_value, double inputs, double outputs) {
  LlmOperator& op = graph_.add();
  const double values = real(m) * real(n);
  op.name = name;
  op.kind = kind;
  op.m = m;
  op.n = n;
  op.count = count;
  op.flops = flops_per_value * values;
  op.input_bytes = inputs * values * activation_;
  op.output_bytes = outputs * values * activation_;
  return op;
}

LlmOperator& ForwardBuilder::norm(OperatorName name, int64_t m, int64_t n, int64_t count) {
  const double flops = config_.norm == NormKind::kRmsNorm ? kRmsNormFlops : kLayerNormFlops;
  LlmOperator& op = rows(name, OperatorKind::kNorm, m, n, count, flops, 1, 1);
  op.weight_bytes = (config_.norm_bias ? 2 : 1) * real(n) * weight_;
  return op;
}

void ForwardBuilder::residual(OperatorName name, int64_t count) {
  rows(name, OperatorKind::kElementwise, tokens_, config_.hidden, count, 1, 2, 1);
}

void ForwardBuilder::all_reduce(OperatorName name, int64_t count) {
  if (workload_.tensor_parallel == 1) return;
  const double devices = real(workload_.tensor_parallel);
  LlmOperator& op = rows(name, OperatorKind::kCollective, tokens_, config_.hidden, count, 1, 1, 1);
  op.link_bytes = 2 * (devices - 1) / devices * op.input_bytes;
}

void ForwardBuilder::build() {
  embeddings();
  attention_layers();
  feed_forward_layers();
  head();
  if (config_.stored_bits && workload_.weight_bits_per_value) weigh_parts();
}

void ForwardBuilder::weigh_parts() {
  const StoredBits& bits = *config_.stored_bits;
  for (LlmOperator& op : graph_) {
    const bool is_embedding = op.name <= OperatorName::kEmbeddingNorm;
    const bool is_expert = op.name >= OperatorName::kExpertGateUp && op.name <= OperatorName::kExpertDown;
    const double part = is_embedding                            ? bits.embedding
                        : is_expert                             ? bits.experts
                        : op.name == OperatorName::kRouter      ? bits.embedding  // as other small parts
                        : op.name < OperatorName::kFfnNorm      ? bits.attention
                        : op.name <= OperatorName::kFfnResidual ? bits.ffn
                                                                : bits.head;
    op.weight_bytes *= part / *workload_.weight_bits_per_value;
  }
}

void ForwardBuilder::embeddings() {
  const int64_t hidden = config_.hidden;
  if (config_.kind == LlmKind::kVision) {
    // A convolution whose stride is its width: one product over the patches.
    const VisionConfig& vision = config_.vision;
    product(OperatorName::kPatchEmbedding, workload_.batch * vision.patches(),
            vision.channels * vision.patch_size * vision.patch_size, hidden, 1, true);
  } else {
    LlmOperator& op = rows(OperatorName::kTokenEmbedding, OperatorKind::kEmbedding, tokens_, hidden, 1, 0, 0, 1);
    op.weight_bytes = real(tokens_) * real(hidden) * weight_ / real(workload_.tensor_parallel);
    all_reduce(OperatorName::kEmbeddingAllReduce, 1);
  }
  if (config_.positions == PositionKind::kLearned) {
    LlmOperator& op = rows(OperatorName::kPositionEmbedding, OperatorKind::kElementwise, tokens_, hidden, 1, 1, 1, 1);
    op.weight_bytes = real(queries_) * real(hidden) * weight_;
  }
  if (config_.token_types > 0) {
    LlmOperator& op = rows(OperatorName::kTypeEmbedding, OperatorKind::kElementwise, tokens_, hidden, 1, 1, 1, 1);
    op.weight_bytes = real(config_.token_types) * real(hidden) * weight_;
  }
  if (config_.embedding_norm) norm(OperatorName::kEmbeddingNorm, tokens_, hidden, 1);
}

void ForwardBuilder::projections() {
  const int64_t layers = config_.attention_layers();
  const int64_t q_width = shard_.heads * config_.head_dim;
  const int64_t kv_width = shard_.kv_heads * config_.head_dim;
  const bool bias = config_.qkv_bias;
  if (config_.fused_qkv) {
    product(OperatorName::kQkvProjection, tokens_, config_.hidden, q_width + 2 * kv_width, layers, bias);
  } else {
    product(OperatorName::kQueryProjection, tokens_, config_.hidden, q_width, layers, bias);
    product(OperatorName::kKeyProjection, tokens_, config_.hidden, kv_width, layers, bias);
    product(OperatorName::kValueProjection, tokens_, config_.hidden, kv_width, layers, bias);
  }
  if (config_.qk_norm) {
    LlmOperator& op = norm(OperatorName::kQkNorm, tokens_ * (shard_.heads + shard_.kv_heads), config_.head_dim, layers);
    op.weight_bytes *= 2;  // one set for queries, one for keys
  }
  if (config_.positions == PositionKind::kRotary) {
    const int64_t turned = config_.rotary_dim > 0 ? config_.rotary_dim : config_.head_dim;
    rows(OperatorName::kRope, OperatorKind::kRope, tokens_, (shard_.heads + shard_.kv_heads) * turned, layers,
         kRopeFlops, 1, 1);
  }
  cache_write(2 * kv_width);
}

void ForwardBuilder::latent_projections() {
  const int64_t layers = config_.layers;
  const int64_t hidden = config_.hidden;
  const int64_t heads = shard_.heads;
  const MlaConfig& mla = config_.mla;
  const int64_t q_width = heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim);
  const int64_t latent = mla.kv_lora_rank + mla.qk_rope_head_dim;
  if (mla.q_lora_rank > 0) {
    product(OperatorName::kMlaQueryDown, tokens_, hidden, mla.q_lora_rank, layers, false);
    norm(OperatorName::kMlaQueryNorm, tokens_, mla.q_lora_rank, layers);
    product(OperatorName::kMlaQueryUp, tokens_, mla.q_lora_rank, q_width, layers, false);
  } else {
    product(OperatorName::kQueryProjection, tokens_, hidden, q_width, layers, false);
  }
  product(OperatorName::kMlaKvDown, tokens_, hidden, latent, layers, false);
  norm(OperatorName::kMlaKvNorm, tokens_, mla.kv_lora_rank, layers);
  if (mla.qk_rope_head_dim > 0) {
    rows(OperatorName::kRope, OperatorKind::kRope, tokens_, (heads + 1) * mla.qk_rope_head_dim, layers, kRopeFlops, 1,
         1);
  }
  cache_write(latent);
  if (absorbed_) {
    // Each head's query is brought into the latent space, where keys and values are the cache itself.
    LlmOperator& op =
        product(OperatorName::kMlaQueryAbsorb, tokens_, mla.qk_nope_head_dim, mla.kv_lora_rank, layers, false);
    repeat(op, heads);
  } else {
    product(OperatorName::kMlaKvUp, tokens_, mla.kv_lora_rank, heads * (mla.qk_nope_head_dim + mla.v_head_dim), layers,
            false);
  }
}

void ForwardBuilder::cache_write(int64_t values) {
  if (!caches_) return;
  LlmOperator& op =
      rows(OperatorName::kCacheWrite, OperatorKind::kElementwise, tokens_, values, config_.attention_layers(), 0, 1, 0);
  op.kv_bytes = real(tokens_) * real(values) * cache_;
}

void ForwardBuilder::attention(int64_t count, int64_t window) {
  if (count == 0) return;
  const bool windowed = window > 0;
  const bool mla = config_.has_mla();
  const int64_t attended = windowed ? std::min(keys_, window) : keys_;
  const int64_t score_width = !mla        ? config_.head_dim
                              : absorbed_ ? config_.mla.kv_lora_rank + config_.mla.qk_rope_head_dim
                                          : config_.mla.qk_nope_head_dim + config_.mla.qk_rope_head_dim;
  const int64_t value_width = !mla ? config_.head_dim : absorbed_ ? config_.mla.kv_lora_rank : config_.mla.v_head_dim;
  // Heads whose keys are read: one where all share the latent, all where it was expanded.
  const int64_t key_heads = !mla ? shard_.kv_heads : absorbed_ ? 1 : shard_.heads;
  const bool from_cache = caches_ && (!mla || absorbed_);
  const int64_t batch = workload_.batch * shard_.heads;
  const bool skips = workload_.skip_masked && config_.has_cache() && queries_ > 1;
  const double pairs = real(batch) * (skips ? causal_pairs(queries_, attended) : real(queries_) * real(attended));
  const double score_bytes =
      workload_.fused_attention ? 0 : real(batch) * real(queries_) * real(attended) * activation_;
  // A long prompt has every key read, also where each query sees a window of them.
  const double keys_read = real(workload_.batch) * real(key_heads) * real(queries_ > 1 ? keys_ : attended);

  LlmOperator& scores = graph_.add();
  scores.name = windowed ? OperatorName::kWindowScores : OperatorName::kScores;
  scores.kind = OperatorKind::kAttentionScores;
  scores.m = queries_;
  scores.k = score_width;
  scores.n = attended;
  scores.batch = batch;
  scores.count = count;
  scores.macs = pairs * real(score_width);
  scores.flops = 2 * scores.macs;
  scores.input_bytes = real(batch) * real(queries_) * real(score_width) * activation_;
  (from_cache ? scores.kv_bytes : scores.input_bytes) +=
      keys_read * real(score_width) * (from_cache ? cache_ : activation_);
  scores.output_bytes = score_bytes;

  if (!workload_.fused_attention) {
    LlmOperator& op = rows(windowed ? OperatorName::kWindowScaleMask : OperatorName::kScaleMask,
                           OperatorKind::kElementwise, batch * queries_, attended, count, 2, 0, 0);
    op.input_bytes = op.output_bytes = score_bytes;
  }
  LlmOperator& softmax = rows(windowed ? OperatorName::kWindowSoftmax : OperatorName::kSoftmax, OperatorKind::kSoftmax,
                              batch * queries_, attended, count, 0, 0, 0);
  softmax.flops = kSoftmaxFlops * pairs;
  if (config_.attention_sinks) softmax.weight_bytes = real(shard_.heads) * weight_;
  softmax.input_bytes = softmax.output_bytes = score_bytes;

  LlmOperator& values = graph_.add();
  values.name = windowed ? OperatorName::kWindowValues : OperatorName::kValues;
  values.kind = OperatorKind::kAttentionValues;
  values.m = queries_;
  values.k = attended;
  values.n = value_width;
  values.batch = batch;
  values.count = count;
  values.macs = pairs * real(value_width);
  values.flops = 2 * values.macs;
  values.input_bytes = score_bytes;
  // A fused kernel has the latent at hand from the scores.
  if (!(absorbed_ && workload_.fused_attention)) {
    (from_cache ? values.kv_bytes : values.input_bytes) +=
        keys_read * real(value_width) * (from_cache ? cache_ : activation_);
  }
  values.output_bytes = real(batch) * real(queries_) * real(value_width) * activation_;
}

void ForwardBuilder::attention_layers() {
  const int64_t layers = config_.attention_layers();
  const int64_t mixers = layers + config_.mamba.layers;
  const bool norm_first = config_.kind != LlmKind::kEncoder;  // BERT's stand behind the sums
  // Where a layer has one norm, that of its feed-forward network is this one.
  const int64_t norms = config_.norms_per_layer == 1 ? config_.layers : mixers;
  if (norm_first && config_.norms_per_layer >= 1) norm(OperatorName::kAttentionNorm, tokens_, config_.hidden, norms);
  if (config_.mamba.layers > 0) mamba_layers();
  if (layers > 0) {
    if (config_.has_mla()) {
      latent_projections();
    } else {
      projections();
    }
    attention(layers - config_.windowed_layers, 0);
    attention(config_.windowed_layers, config_.sliding_window);
    const int64_t value_width = config_.has_mla() ? config_.mla.v_head_dim : config_.head_dim;
    if (absorbed_) {
      LlmOperator& op =
          product(OperatorName::kMlaValueAbsorb, tokens_, config_.mla.kv_lora_rank, value_width, layers, false);
      repeat(op, shard_.heads);
    }
    product(OperatorName::kAttentionOutput, tokens_, shard_.heads * value_width, config_.hidden, layers,
            config_.attention_out_bias);
  }
  if (!config_.parallel_attention) all_reduce(OperatorName::kAttentionAllReduce, mixers);
  if (config_.norms_per_layer == 4) norm(OperatorName::kAttentionPostNorm, tokens_, config_.hidden, mixers);
  residual(OperatorName::kAttentionResidual, mixers);
  if (!norm_first) norm(OperatorName::kAttentionNorm, tokens_, config_.hidden, mixers);
}

// The scan counts as what a step through the tokens takes: each value of the state decays, takes its input up and gives
// to the output. Kernels that go through a prompt in chunks do more operations, as products.
void ForwardBuilder::mamba_layers() {
  constexpr double kScanFlops = 6, kGateFlops = 2;
  const MambaConfig& mamba = shard_.mamba;
  const int64_t layers = mamba.layers;
  product(OperatorName::kMambaIn, tokens_, config_.hidden, mamba.in_width(), layers, mamba.proj_bias);
  LlmOperator& convolution = rows(OperatorName::kMambaConvolution, OperatorKind::kElementwise, tokens_,
                                  mamba.conv_width(), layers, 2 * real(mamba.conv), 1, 1);
  convolution.weight_bytes = real(mamba.conv_width()) * real(mamba.conv + (mamba.conv_bias ? 1 : 0)) * weight_;
  if (!mamba.is_second()) {
    product(OperatorName::kMambaStep, tokens_, mamba.inner, mamba.step_width(), layers, false);
    product(OperatorName::kMambaStep, tokens_, mamba.dt_rank, mamba.inner, layers, true);
  }
  LlmOperator& scan = rows(OperatorName::kMambaScan, OperatorKind::kElementwise, tokens_, mamba.inner, layers,
                           kScanFlops * real(mamba.state) + kGateFlops, 2, 1);
  const int64_t constants = mamba.is_second() ? 3 * mamba.heads : mamba.inner * (mamba.state + 1) + mamba.step_width();
  scan.weight_bytes = real(constants) * weight_;
  if (caches_) scan.kv_bytes = 2 * real(workload_.batch) * real(mamba.state_values()) * cache_;  // read and written
  if (mamba.is_second()) norm(OperatorName::kMambaNorm, tokens_, mamba.inner, layers);
  product(OperatorName::kMambaOut, tokens_, mamba.inner, config_.hidden, layers, mamba.proj_bias);
}

void ForwardBuilder::feed_forward_layers() {
  const int64_t layers = config_.layers - config_.no_ffn_layers;
  const bool norm_first = config_.kind != LlmKind::kEncoder;
  if (norm_first && config_.norms_per_layer >= 2) norm(OperatorName::kFfnNorm, tokens_, config_.hidden, layers);
  dense_ffn(shard_.ffn, config_.dense_ffn_layers(), false);
  if (config_.has_moe()) experts();
  all_reduce(OperatorName::kFfnAllReduce, layers);
  if (config_.norms_per_layer == 4) norm(OperatorName::kFfnPostNorm, tokens_, config_.hidden, layers);
  residual(OperatorName::kFfnResidual, layers);
  if (!norm_first) norm(OperatorName::kFfnNorm, tokens_, config_.hidden, layers);
}

void ForwardBuilder::dense_ffn(int64_t width, int64_t count, bool shared) {
  if (count == 0 || width == 0) return;
  const int64_t hidden = config_.hidden;
  const bool bias = config_.ffn_bias;
  if (config_.gated_ffn && config_.fused_gate_up) {
    product(shared ? OperatorName::kSharedGateUp : OperatorName::kFfnGateUp, tokens_, hidden, 2 * width, count, bias);
  } else {
    if (config_.gated_ffn) {
      product(shared ? OperatorName::kSharedGate : OperatorName::kFfnGate, tokens_, hidden, width, count, bias);
    }
    product(shared ? OperatorName::kSharedUp : OperatorName::kFfnUp, tokens_, hidden, width, count, bias);
  }
  rows(shared ? OperatorName::kSharedActivation : OperatorName::kFfnActivation, OperatorKind::kActivation, tokens_,
       width, count, activation_flops(config_.activation) + (config_.gated_ffn ? 1 : 0), config_.gated_ffn ? 2 : 1, 1);
  product(shared ? OperatorName::kSharedDown : OperatorName::kFfnDown, tokens_, width, hidden, count, bias);
}

void ForwardBuilder::experts() {
  const MoeConfig& moe = config_.moe;
  const int64_t count = moe.moe_layers;
  if (count == 0) return;
  const int64_t hidden = config_.hidden;
  const int64_t width = shard_.expert_ffn;
  product(OperatorName::kRouter, tokens_, hidden, moe.experts, count, moe.router_bias);
  const int64_t visits = tokens_ * moe.active_experts;
  // Scores to choices, and each token's values to the places of its experts.
  LlmOperator& routing =
      rows(OperatorName::kRouting, OperatorKind::kRouting, tokens_, moe.experts, count, kSoftmaxFlops + 1, 1, 0);
  routing.input_bytes += real(tokens_) * real(hidden) * activation_;
  routing.output_bytes += real(visits) * real(hidden) * activation_;

  const double touched = expected_distinct_experts(moe.experts, moe.active_experts, real(tokens_));
  const int64_t launched = std::max<int64_t>(1, std::llround(touched));
  const auto grouped = [&](OperatorName name, int64_t k, int64_t n) {
    LlmOperator& op = product(name, (visits + launched - 1) / launched, k, n, count, config_.ffn_bias);
    op.batch = launched;
    op.macs = real(visits) * real(k) * real(n);
    op.flops = 2 * op.macs + (config_.ffn_bias ? real(visits) * real(n) : 0);
    op.weight_bytes *= touched;
    op.input_bytes = real(visits) * real(k) * activation_;
    op.output_bytes = real(visits) * real(n) * activation_;
  };
  if (config_.gated_ffn && config_.fused_gate_up) {
    grouped(OperatorName::kExpertGateUp, hidden, 2 * width);
  } else {
    if (config_.gated_ffn) grouped(OperatorName::kExpertGate, hidden, width);
    grouped(OperatorName::kExpertUp, hidden, width);
  }
  rows(OperatorName::kExpertActivation, OperatorKind::kActivation, visits, width, count,
       activation_flops(config_.activation) + (config_.gated_ffn ? 1 : 0), config_.gated_ffn ? 2 : 1, 1);
  grouped(OperatorName::kExpertDown, width, hidden);
  LlmOperator& combine = rows(OperatorName::kExpertCombine, OperatorKind::kRouting, visits, hidden, count, 2, 1, 0);
  combine.output_bytes = real(tokens_) * real(hidden) * activation_;
  if (moe.shared_ffn > 0) {
    if (moe.shared_gate) product(OperatorName::kSharedRoute, tokens_, hidden, 1, count, false);
    dense_ffn(shard_.shared_ffn, count, true);
  }
}

void ForwardBuilder::head() {
  const int64_t hidden = config_.hidden;
  const bool last_only = workload_.phase == LlmPhase::kPrefill && !workload_.head_all_positions;
  const int64_t positions = last_only ? workload_.batch : tokens_;
  if (config_.final_norm) {
    norm(OperatorName::kFinalNorm, config_.has_cache() ? positions : tokens_, hidden, 1);
  }
  if (config_.pooler) {
    product(OperatorName::kPooler, workload_.batch, hidden, hidden, 1, true);
    rows(OperatorName::kPoolerActivation, OperatorKind::kActivation, workload_.batch, hidden, 1, 1, 1, 1);
  }
  if (config_.kind == LlmKind::kVision) {
    if (config_.vision.classes > 0) {
      product(OperatorName::kClassifier, workload_.batch, hidden, config_.vision.classes, 1, true);
    }
    return;
  }
  if (!config_.language_head) return;
  product(OperatorName::kLanguageHead, positions, hidden, shard_.vocab, 1, config_.head_bias);
  if (workload_.phase == LlmPhase::kTrain) {
    rows(OperatorName::kLoss, OperatorKind::kSoftmax, positions, shard_.vocab, 1, kSoftmaxFlops, 1, 1);
  } else if (workload_.tensor_parallel > 1) {
    const double devices = real(workload_.tensor_parallel);
    LlmOperator& op =
        rows(OperatorName::kLogitsAllGather, OperatorKind::kCollective, positions, shard_.vocab, 1, 0, 1, devices);
    op.link_bytes = (devices - 1) * op.input_bytes;
  }
}

}  // namespace perfcast::ai
