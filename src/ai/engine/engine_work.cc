#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ai/engine/engine_step.h"
#include "ai/llm/operator_graph.h"
#include "base/statistics.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr int64_t kMostRequestTokens = int64_t{1} << 30;
// Kernels of a layer that dense models lack: router, choice, order, sum of experts; norms and products of the latents.
// Nobody measured these under an engine. Alone, the module of latents takes some 17 kernels' time on a B200 (74,000
// cycles, AIConfigurator's database), and 4 more in fp8, whose values are scaled before each product of a layer: 2
// where attention stays in 16 bits.
constexpr double kExpertKernels = 5, kLatentKernels = 11, kScalingKernels = 4;

double scaling_kernels(const LlmConfig& config, const EngineRequest& request) {
  constexpr double kWholeBits = 16;
  if (request.activations != Precision::kFp8) return 0;
  const bool whole_attention = config.stored_bits && config.stored_bits->attention >= kWholeBits;
  return whole_attention ? kScalingKernels / 2 : kScalingKernels;
}

// Values of its hidden size that a token's visit to an expert reads and writes: gathered, computed, summed.
constexpr double kGatheredValues = 3.5;

double amount(int64_t value) { return static_cast<double>(value); }

bool is_expert(OperatorName name) { return name >= OperatorName::kExpertGateUp && name <= OperatorName::kExpertDown; }

Status check_tokens(const LlmConfig& config, const EngineRequest& request) {
  if (config.kind != LlmKind::kDecoder) {
    return usage_error("no-decoder", config.name + " generates no tokens, and serving engines were measured doing so",
                       "", "a decoder");
  }
  const struct {
    const char* name;
    int64_t value;
  } parts[] = {{"data-parallel", request.expert_ranks}, {"pipeline-parallel", request.pipeline_stages}};
  for (const auto& part : parts) {
    if (part.value >= 1) continue;
    return usage_error("bad-usage", fmt::format("{} is {}", part.name, part.value), part.name, "at least 1");
  }
  if (request.expert_ranks > 1 && (!config.has_moe() || config.moe.experts % request.expert_ranks != 0)) {
    return usage_error("bad-usage",
                       fmt::format("{} engines can't share {} experts", request.expert_ranks, config.moe.experts),
                       "data-parallel", "a model with experts, and a number of engines that divides theirs");
  }
  if (request.pipeline_stages > config.layers) {
    return usage_error("bad-usage", fmt::format("{} stages for {} layers", request.pipeline_stages, config.layers),
                       "pipeline-parallel", fmt::format("at most {}", config.layers));
  }
  const struct {
    const char* name;
    int64_t value;
  } counts[] = {
      {"prompt-tokens", request.prompt_tokens}, {"output-tokens", request.output_tokens}, {"batch", request.batch}};
  for (const auto& count : counts) {
    if (count.value >= 1 && count.value <= kMostRequestTokens) continue;
    return usage_error("bad-usage", fmt::format("{} is {}", count.name, count.value), count.name,
                       fmt::format("from 1 to {}", kMostRequestTokens));
  }
  return {};
}

uint32_t unmeasured_of(const LlmConfig& config, const EngineRequest& request) {
  const auto halves = [](Precision precision) {
    return precision == Precision::kFp16 || precision == Precision::kBf16;
  };
  uint32_t unmeasured = 0;
  if (config.has_moe()) unmeasured |= kUnmeasuredExperts;
  if (config.has_mla()) unmeasured |= kUnmeasuredLatentAttention;
  if (config.mamba.layers > 0) unmeasured |= kUnmeasuredStateSpace;
  if (!halves(request.weights) || !halves(request.activations) || !halves(request.kv) ||
      request.weight_bits_per_value.value_or(16) != 16) {
    unmeasured |= kUnmeasuredPrecision;
  }
  if (request.batch > 1) unmeasured |= kUnmeasuredBatch;
  return unmeasured;
}

// The mean of the largest of n normal values (Blom 1958).
double largest_of_normal(double n) {
  constexpr double kAlmostNormal = 1e6;  // degrees of freedom
  return n > 1 ? student_quantile((n - 0.375) / (n + 0.25), kAlmostNormal) : 0;
}

// Layers' products and the head; of experts what all of them hold.
void add_products(const OperatorGraph& graph, const LlmConfig& config, EngineWork& work) {
  for (const LlmOperator& op : graph) {
    if (op.name == OperatorName::kMambaScan) work.state_bytes += op.kv_bytes * amount(op.count);
    if (op.kind != OperatorKind::kGemm) continue;
    if (op.name == OperatorName::kLanguageHead) {
      work.head_bytes += op.weight_bytes * amount(op.count);
      work.head_flops += 2 * amount(op.k) * amount(op.n) * amount(op.count);
      continue;
    }
    const double times = amount(op.count) * (is_expert(op.name) ? amount(config.moe.active_experts) : amount(op.batch));
    const double flops = 2 * amount(op.k) * amount(op.n) * times;
    work.product_flops += flops;
    const double fill_flops = 2 * amount(op.n) * times;
    work.product_fill_flops += fill_flops;
    const double bytes = op.weight_bytes * amount(op.count);
    if (is_expert(op.name)) {
      work.expert_flops += flops;
      work.expert_fill_flops += fill_flops;
      // One token touches as many experts as are active.
      work.expert_bytes += bytes * amount(config.moe.experts) / amount(std::max<int64_t>(1, config.moe.active_experts));
    } else {
      work.dense_bytes += bytes;
    }
  }
}

void add_attention(const LlmConfig& config, const ModelShard& shard, const EngineRequest& request, EngineWork& work) {
  work.attention_layers = amount(config.attention_layers());
  work.windowed_layers = amount(config.windowed_layers);
  work.window_tokens = amount(config.sliding_window);
  work.head_dim = amount(config.head_dim);
  work.heads = amount(shard.heads);
  work.kv_heads = amount(shard.kv_heads);
  const double bytes = bytes_per_value(request.kv);
  if (config.has_mla()) {
    const MlaConfig& mla = config.mla;
    const double latent = amount(mla.kv_lora_rank + mla.qk_rope_head_dim);
    work.kv_heads = 1;  // all heads share the latent
    work.cache_bytes_per_token = latent * bytes;
    work.attention_flops_per_key = 2 * work.heads * (latent + amount(mla.kv_lora_rank));
    work.prefill_flops_per_key = 2 * work.heads * amount(mla.qk_nope_head_dim + mla.qk_rope_head_dim + mla.v_head_dim);
    return;
  }
  work.cache_bytes_per_token = 2 * work.kv_heads * work.head_dim * bytes;
  work.attention_flops_per_key = work.prefill_flops_per_key = 4 * work.heads * work.head_dim;
}

// Values that norms, sums, rotations and activations read and write in prefill, once for each token.
double activation_values(const LlmConfig& config, const ModelShard& shard) {
  const double hidden = amount(config.hidden), layers = amount(config.layers);
  const double attention = 3 * (amount(shard.heads) + 2 * amount(shard.kv_heads)) * amount(config.head_dim);
  const double dense = 6 * amount(shard.ffn) * amount(config.dense_ffn_layers());
  const double experts = kGatheredValues * hidden * amount(config.moe.active_experts) * amount(config.moe.moe_layers) +
                         6 * (amount(shard.expert_ffn) * amount(config.moe.active_experts) + amount(shard.shared_ffn)) *
                             amount(config.moe.moe_layers);
  return layers * (4 * amount(config.norms_per_layer) * hidden + 4 * hidden) +
         attention * amount(config.attention_layers()) + dense + (config.has_moe() ? experts : 0);
}

}  // namespace

SamplerDefaults sampler_defaults(const LlmConfig& config) {
  const std::string name = plain_name(config.name);
  const auto is_of = [&](std::initializer_list<std::string_view> families) {
    return std::any_of(families.begin(), families.end(),
                       [&](std::string_view family) { return name.find(family) != std::string::npos; });
  };
  SamplerDefaults defaults;
  defaults.penalises = is_of({"qwen1.5", "qwen2"});
  defaults.truncates =
      defaults.penalises || is_of({"llama2", "llama3", "llama4", "codellama", "qwen3", "gemma3", "deepseek"});
  return defaults;
}

std::string unmeasured_in_words(uint32_t unmeasured) {
  constexpr std::array<std::pair<uint32_t, const char*>, 6> kWords = {{
      {kUnmeasuredExperts, "mixture of experts"},
      {kUnmeasuredLatentAttention, "latent attention"},
      {kUnmeasuredStateSpace, "state-space layers"},
      {kUnmeasuredPrecision, "values of other than 16 bits"},
      {kUnmeasuredBatch, "several requests at once"},
      {kUnmeasuredVendor, "devices of other vendors than NVIDIA"},
  }};
  std::vector<std::string> parts;
  for (const auto& [bit, words] : kWords) {
    if ((unmeasured & bit) != 0) parts.emplace_back(words);
  }
  return join(parts, "; ");
}

double EngineWork::context_tokens() const { return amount(request.prompt_tokens) + amount(request.output_tokens) / 2; }

double EngineWork::weight_bytes(double tokens) const {
  if (!(expert_bytes > 0)) return dense_bytes;
  const double touched =
      expected_distinct_experts(static_cast<int64_t>(experts), static_cast<int64_t>(active_experts), tokens);
  return dense_bytes + expert_bytes * touched / experts;
}

Result<EngineWork> engine_work(const LlmConfig& config, const EngineRequest& request) {
  if (Status status = check_tokens(config, request); !status) return status.error();
  LlmWorkload token;
  token.phase = LlmPhase::kDecode;
  token.context = request.prompt_tokens + request.output_tokens;
  token.weights = request.weights;
  token.activations = request.activations;
  token.kv = request.kv;
  token.weight_bits_per_value = request.weight_bits_per_value;
  token.tensor_parallel = request.tensor_parallel;
  OperatorGraph graph;
  if (Status status = build_operators(config, token, graph); !status) return status.error();
  const auto totals = total_operators(config, token, graph);
  if (!totals) return totals.error();
  const ModelShard shard = shard_of(config, request.tensor_parallel);
  EngineWork work;
  work.resident_bytes = totals->weight_bytes;
  work.model = config.name;
  work.request = request;
  work.request.products_in_4_bits = config.stored_weight_name == "nvfp4" && request.activations == Precision::kFp8;
  work.unmeasured = unmeasured_of(config, request);
  work.layers = amount(config.layers);
  work.hidden = amount(config.hidden);
  work.vocabulary = amount(config.vocab);
  work.experts = amount(config.moe.experts);
  work.active_experts = amount(config.moe.active_experts);
  work.special_kernels_per_layer = (config.has_mla() ? kLatentKernels : 0) + scaling_kernels(config, request) +
                                   kExpertKernels * amount(config.moe.moe_layers) / work.layers;
  work.kernels_per_layer = amount(config.norms_per_layer) + (config.qk_norm ? 1 : 0) + work.special_kernels_per_layer;
  work.expert_layers = amount(config.moe.moe_layers);
  add_products(graph, config, work);
  const double elsewhere = work.expert_bytes * (1 - 1 / amount(request.expert_ranks));
  work.expert_bytes -= elsewhere;
  work.resident_bytes = (work.resident_bytes - elsewhere) / amount(request.pipeline_stages);
  work.busiest_rank = largest_of_normal(amount(request.expert_ranks));
  add_attention(config, shard, request, work);
  work.activation_bytes_per_token = activation_values(config, shard) * bytes_per_value(request.activations);
  return work;
}

}  // namespace perfcast::ai
