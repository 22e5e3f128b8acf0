#include "ai/llm/gguf_reader.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ai/llm/model_family.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr int64_t kLargestGgufSize = int64_t{1} << 31;

struct Architecture {
  std::string_view name;
  ModelFamily family;
};

constexpr Architecture kArchitectures[] = {
    {"llama", ModelFamily::kLlama},   {"qwen2", ModelFamily::kQwen2},    {"qwen2moe", ModelFamily::kQwen2},
    {"qwen3", ModelFamily::kQwen3},   {"qwen3moe", ModelFamily::kQwen3}, {"gemma", ModelFamily::kGemma},
    {"gemma2", ModelFamily::kGemma2}, {"gemma3", ModelFamily::kGemma3},  {"phi2", ModelFamily::kPhi2},
    {"phi3", ModelFamily::kLlama},    {"gpt2", ModelFamily::kGpt2},      {"gptneox", ModelFamily::kGptNeox},
    {"falcon", ModelFamily::kFalcon}, {"bert", ModelFamily::kBert},      {"deepseek2", ModelFamily::kLlama},
    {"gpt-oss", ModelFamily::kLlama}, {"llama4", ModelFamily::kLlama},   {"mistral3", ModelFamily::kLlama},
    {"granite", ModelFamily::kLlama}, {"smollm3", ModelFamily::kLlama},  {"qwen2vl", ModelFamily::kQwen2},
};

// The keys of one architecture, with every mistake collected.
class Keys {
 public:
  Keys(const GgufHeader& header, std::string architecture) : header_(header), architecture_(std::move(architecture)) {}

  // `name` such as "block_count"; without a fallback the key must be there.
  int64_t size(const std::string& name, std::optional<int64_t> fallback = {}, int64_t least = 1) {
    const std::string key = architecture_ + "." + name;
    const auto found = header_.metadata.find(key);
    if (found == header_.metadata.end()) {
      if (!fallback) missing_.push_back(key);
      return fallback.value_or(1);
    }
    const GgufValue& value = found->second;
    std::optional<int64_t> size = value.integer;
    if (value.array_length) {
      // A value for each layer: only where all are alike.
      const auto& all = value.array_integers;
      const bool alike = !all.empty() && *value.array_length == all.size() &&
                         std::all_of(all.begin(), all.end(), [&](int64_t each) { return each == all.front(); });
      if (!alike) {
        wrong_.push_back(key + " differs between layers");
        return 1;
      }
      size = all.front();
    }
    if (!size || *size < least || *size > kLargestGgufSize) {
      wrong_.push_back(key + " is " + (size ? std::to_string(*size) : std::string("no integer")));
      return 1;
    }
    return *size;
  }

  Status finish(const std::string& source) const {
    if (!missing_.empty()) {
      return Error{"bad-gguf", "the metadata lacks " + join(missing_, ", "), source, "a model file with these keys"};
    }
    if (!wrong_.empty()) {
      return Error{"bad-gguf", join(wrong_, "; "), source, "integers from 1 to " + std::to_string(kLargestGgufSize)};
    }
    return {};
  }

 private:
  const GgufHeader& header_;
  const std::string architecture_;
  std::vector<std::string> missing_, wrong_;
};

std::optional<int64_t> vocabulary_of(const GgufHeader& header, const std::string& architecture) {
  if (const GgufTensor* table = header.tensor("token_embd.weight"); table != nullptr && table->shape.size() == 2) {
    return static_cast<int64_t>(std::min<uint64_t>(table->shape[1], kLargestGgufSize));
  }
  if (const auto tokens = header.metadata.find("tokenizer.ggml.tokens");
      tokens != header.metadata.end() && tokens->second.array_length) {
    return static_cast<int64_t>(std::min<uint64_t>(*tokens->second.array_length, kLargestGgufSize));
  }
  if (const auto size = header.metadata.find(architecture + ".vocab_size"); size != header.metadata.end()) {
    return size->second.integer;
  }
  return std::nullopt;
}

void read_experts(Keys& in, const std::string& architecture, LlmConfig& config) {
  const int64_t experts = in.size("expert_count", 0, 0);
  if (experts == 0) return;
  config.moe.experts = experts;
  config.moe.active_experts = in.size("expert_used_count");
  config.moe.expert_ffn = in.size("expert_feed_forward_length", config.ffn);
  config.moe.shared_ffn = in.size("expert_shared_feed_forward_length", 0, 0);
  if (config.moe.shared_ffn == 0) {
    config.moe.shared_ffn = in.size("expert_shared_count", 0, 0) * config.moe.expert_ffn;
  }
  config.moe.shared_gate = architecture == "qwen2moe" && config.moe.shared_ffn > 0;
  config.moe.moe_layers = std::max<int64_t>(0, config.layers - in.size("leading_dense_block_count", 0, 0));
  if (architecture != "llama4") return;
  config.moe.shared_ffn = config.moe.expert_ffn;
  config.moe.moe_layers = config.layers / in.size("interleave_moe_layer_step", 1);
}

void read_latent(Keys& in, LlmConfig& config) {
  config.mla.kv_lora_rank = in.size("attention.kv_lora_rank");
  config.mla.q_lora_rank = in.size("attention.q_lora_rank", 0, 0);
  config.mla.qk_rope_head_dim = in.size("rope.dimension_count");
  // Newer files state the widths of the latent space as key_length and those of the heads apart.
  const int64_t key = in.size("attention.key_length_mla", in.size("attention.key_length"));
  config.mla.v_head_dim = in.size("attention.value_length_mla", in.size("attention.value_length"));
  config.mla.qk_nope_head_dim = std::max<int64_t>(1, key - config.mla.qk_rope_head_dim);
  config.head_dim = key;
  config.kv_heads = config.heads;
}

void read_window(Keys& in, const std::string& architecture, LlmConfig& config) {
  constexpr int64_t kLlama4Chunk = 8192;
  const int64_t window = in.size("attention.sliding_window", architecture == "llama4" ? kLlama4Chunk : 0, 0);
  if (window == 0) return;
  config.sliding_window = window;
  const bool every_other = architecture == "gemma2" || architecture == "gpt-oss";
  config.windowed_layers = every_other                ? (config.layers + 1) / 2
                           : architecture == "llama4" ? config.layers - config.layers / 4
                           : architecture == "gemma3" ? config.layers - config.layers / 6
                                                      : config.layers;
}

// What the list of tensors says better than the architecture's habits.
void look_at_tensors(const GgufHeader& header, LlmConfig& config) {
  if (header.tensors.empty()) return;
  const auto has = [&](const char* name) { return header.tensor(name) != nullptr; };
  config.tied_embeddings = !has("output.weight");
  config.head_bias = has("output.bias");
  config.qkv_bias = has("blk.0.attn_q.bias") || has("blk.0.attn_qkv.bias");
  config.attention_out_bias = has("blk.0.attn_output.bias");
  config.ffn_bias = has("blk.0.ffn_down.bias") || has("blk.0.ffn_down_exps.bias");
  config.attention_sinks = has("blk.0.attn_sinks.weight");
  config.qk_norm = has("blk.0.attn_q_norm.weight");
  config.pooler = false;  // llama.cpp leaves BERT's out
  if (config.parallel_attention && has("blk.0.attn_norm_2.weight")) config.norms_per_layer = 2;  // Falcon 40B
  if (config.has_moe()) {
    const std::string last = "blk." + std::to_string(config.layers - 1);
    config.moe.router_bias = has((last + ".exp_probs_b.bias").c_str()) || has((last + ".ffn_gate_inp.bias").c_str());
  }
  config.stored_weight_bytes = header.tensor_bytes();
  const auto count = count_parameters(config);
  if (!count) return;
  const double values = header.tensor_values();
  if (std::abs(values / static_cast<double>(count->total) - 1) > 1e-3) {
    config.notes.push_back("the file's tensors hold " + human_number(values) +
                           " values, the architecture as read has " + human_number(static_cast<double>(count->total)));
  }
}

}  // namespace

std::vector<std::string> gguf_architectures() {
  std::vector<std::string> names;
  names.reserve(std::size(kArchitectures));
  for (const Architecture& each : kArchitectures) names.emplace_back(each.name);
  return names;
}

Result<LlmConfig> gguf_config(const GgufHeader& header, const std::string& source) {
  const auto named = header.metadata.find("general.architecture");
  if (named == header.metadata.end() || !named->second.text) {
    return Error{"bad-gguf", "the metadata lacks general.architecture", source, "a GGUF file of a model"};
  }
  const std::string architecture = *named->second.text;
  const auto* known = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                                   [&](const Architecture& each) { return each.name == architecture; });
  if (known == std::end(kArchitectures)) {
    return Error{"unknown-model-type", "the architecture '" + printable(architecture.substr(0, 60)) + "' is not known",
                 source, "one of: " + join(gguf_architectures(), ", ")};
  }

  Keys in(header, architecture);
  LlmConfig config;
  const auto name = header.metadata.find("general.name");
  const bool has_name = name != header.metadata.end() && name->second.text && !name->second.text->empty();
  config.name = has_name ? printable(name->second.text->substr(0, 100)) : source;
  config.source = source;
  config.layers = in.size("block_count");
  config.hidden = in.size("embedding_length");
  config.heads = in.size("attention.head_count");
  config.kv_heads = in.size("attention.head_count_kv", config.heads);
  config.head_dim = in.size("attention.key_length", std::max<int64_t>(1, config.hidden / config.heads));
  config.max_positions = in.size("context_length", 0, 0);
  config.ffn =
      in.size("feed_forward_length",
              architecture == "qwen3moe" || architecture == "qwen2moe" ? std::optional<int64_t>(1) : std::nullopt);
  const auto vocab = vocabulary_of(header, architecture);
  if (!vocab) {
    return Error{"bad-gguf", "nothing says how large the vocabulary is", source,
                 "tokenizer.ggml.tokens, " + architecture + ".vocab_size or the tensor token_embd.weight"};
  }
  config.vocab = *vocab;
  config.token_types = architecture == "bert" ? 2 : 0;
  apply_family(known->family, config);
  read_experts(in, architecture, config);
  if (architecture == "deepseek2") read_latent(in, config);
  read_window(in, architecture, config);
  if (config.positions == PositionKind::kRotary) {
    config.rotary_dim = in.size("rope.dimension_count", 0, 0);
  }
  if (const auto parallel = header.metadata.find(architecture + ".use_parallel_residual");
      parallel != header.metadata.end() && parallel->second.integer) {
    config.parallel_attention = *parallel->second.integer != 0;
  }
  if (Status status = in.finish(source); !status) return status.error();
  look_at_tensors(header, config);
  if (Status status = check_config(config); !status) return status.error();
  return config;
}

}  // namespace perfcast::ai
