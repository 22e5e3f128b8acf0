#include "ai/llm/hf_quantization.h"

#include <fmt/format.h>

#include <algorithm>

#include "ai/llm/stored_format.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kScaleBits = 16;       // of a group's scale
constexpr double kBlockScaleBits = 32;  // of a block's, in fp8

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string text_of(const Json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const Json* value = member(object, key); value != nullptr && value->is_string()) {
      return lower_case(value->get<std::string>());
    }
  }
  return "";
}

double number_of(const Json& object, std::initializer_list<const char*> keys, double fallback) {
  for (const char* key : keys) {
    if (const Json* value = member(object, key); value != nullptr && value->is_number()) return value->get<double>();
  }
  return fallback;
}

bool is_true(const Json& object, const char* key) {
  const Json* value = member(object, key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// "model.layers.3.mlp": it names one layer.
bool names_a_layer(std::string_view module) {
  for (size_t at = module.find("layers."); at != std::string_view::npos; at = module.find("layers.", at + 1)) {
    const size_t digit = at + 7;
    if (digit < module.size() && module[digit] >= '0' && module[digit] <= '9') return true;
  }
  return false;
}

// Modules that are not quantised: names, or patterns such as "re:.*self_attn.*".
void keep(std::string_view module, const LlmConfig& config, QuantisedFormat& format) {
  if (has(module, "vision") || has(module, "visual")) return;
  if (has(module, "lm_head")) format.kept_head = 1;
  const bool is_attention = has(module, "attn") || has(module, "attention");
  const bool is_ffn = has(module, "mlp") || has(module, "feed_forward") || has(module, "expert");
  const bool is_product = has(module, "_proj");
  const bool is_router = is_ffn && !is_product && (has(module, "gate") || has(module, "router"));
  if (is_router) return;
  const double share = names_a_layer(module) ? 1 / static_cast<double>(config.layers) : 1;
  const bool whole_layer = !is_attention && !is_ffn && names_a_layer(module);
  const auto add = [](double& kept, double part) { kept = std::min(1.0, kept + part); };
  if (is_attention || whole_layer) add(format.kept_attention, is_product ? share / 4 : share);
  if (!is_ffn && !whole_layer) return;
  const double part = is_product ? share / 3 : share;
  const bool is_one_expert = has(module, "experts.") && !has(module, "shared");  // of hundreds
  if (is_one_expert) return;
  add(format.kept_ffn, part);
  if (!has(module, "shared")) add(format.kept_experts, part);
}

void keep_listed(const Json& quantization, const LlmConfig& config, QuantisedFormat& format) {
  for (const char* key :
       {"ignore", "modules_to_not_convert", "ignored_layers", "exclude_modules", "llm_int8_skip_modules"}) {
    const Json* list = member(quantization, key);
    if (list == nullptr || !list->is_array()) continue;
    for (const Json& module : *list) {
      if (module.is_string()) keep(lower_case(module.get_ref<const std::string&>()), config, format);
    }
  }
}

// Bits of a value of `bits` in groups, each with a scale and, where it is not symmetric, a zero point.
double grouped(double bits, double group, bool has_zeros) {
  return group >= 1 ? bits + (kScaleBits + (has_zeros ? bits : 0)) / group : bits;
}

std::string integer_name(double bits) { return fmt::format("int{:.0f}", bits); }

bool is_width(double bits) { return bits >= 1 && bits <= 16; }

// Of compressed-tensors: of the first group.
std::optional<QuantisedFormat> of_groups(const Json& quantization) {
  const Json* groups = member(quantization, "config_groups");
  if (groups == nullptr || !groups->is_object() || groups->empty()) return std::nullopt;
  const Json& group = groups->front();
  const Json* weights = member(group, "weights");
  if (weights == nullptr) return std::nullopt;
  const double bits = number_of(*weights, {"num_bits"}, 0);
  if (!is_width(bits)) return std::nullopt;
  const bool is_float = text_of(*weights, {"type"}) == "float";
  const double size = number_of(*weights, {"group_size"}, 0);
  const Json* symmetric = member(*weights, "symmetric");
  const bool has_zeros = symmetric != nullptr && *symmetric == false;
  QuantisedFormat format;
  format.bits = is_float && bits == 4 && size >= 1 ? bits + 8 / size : grouped(bits, size, has_zeros);
  format.name = !is_float   ? integer_name(bits)
                : bits == 4 ? (size == 32 ? "mxfp4" : "nvfp4")
                            : fmt::format("fp{:.0f}", bits);
  format.kept_head = 0;
  if (const Json* inputs = member(group, "input_activations"); inputs != nullptr) {
    const bool eight = number_of(*inputs, {"num_bits"}, 0) == 8;
    if (eight) format.activations = text_of(*inputs, {"type"}) == "float" ? Precision::kFp8 : Precision::kInt8;
  }
  return format;
}

QuantisedFormat fp8_of(const Json& quantization) {
  QuantisedFormat format;
  format.name = "fp8";
  format.activations = Precision::kFp8;
  const Json* block = member(quantization, "weight_block_size");
  if (block != nullptr && block->is_array() && block->size() == 2 && (*block)[0].is_number() &&
      (*block)[1].is_number()) {
    const double values = (*block)[0].get<double>() * (*block)[1].get<double>();
    if (values >= 1) format.bits += kBlockScaleBits / values;
  }
  return format;
}

std::optional<QuantisedFormat> format_of(const std::string& method, const Json& quantization) {
  QuantisedFormat format;
  if (method == "compressed-tensors" || method == "compressed_tensors") return of_groups(quantization);
  if (has(method, "fp8")) return fp8_of(quantization);
  if (method == "mxfp4") {
    format.name = method;
    format.bits = 4.25;
    format.kept_attention = format.kept_ffn = 1;  // only experts are
    return format;
  }
  if (method == "modelopt" || method == "modelopt_fp4") {
    const std::string algorithm = text_of(quantization, {"quant_algo"});
    if (has(algorithm, "fp8")) return fp8_of(quantization);
    if (!has(algorithm, "fp4")) return std::nullopt;
    format.name = "nvfp4";
    format.bits = 4.5;
    return format;
  }
  if (method == "bitsandbytes") {
    const bool four = is_true(quantization, "load_in_4bit") || is_true(quantization, "_load_in_4bit");
    const bool is_double = is_true(quantization, "bnb_4bit_use_double_quant");
    format.name = four ? "nf4" : "int8";
    format.bits = !four ? 8 : is_double ? 4 + 8.0 / 64 + 32.0 / (64 * 256) : 4 + 32.0 / 64;
    return format;
  }
  if (!has(method, "gptq") && !has(method, "awq") && !has(method, "auto-round")) return std::nullopt;
  const double bits = number_of(quantization, {"bits", "w_bit"}, 0);
  if (!is_width(bits)) return std::nullopt;
  format.name = integer_name(bits);
  format.bits = grouped(bits, number_of(quantization, {"group_size", "q_group_size"}, 0), true);
  if (is_true(quantization, "lm_head")) format.kept_head = 0;
  return format;
}

}  // namespace

void read_quantization(const Json& quantization, LlmConfig& config) {
  const std::string method = text_of(quantization, {"quant_method", "quant_type"});
  auto format = format_of(method, quantization);
  if (!format) {
    config.notes.push_back(fmt::format("the file's quantization_config{} is not known: give --weight-precision",
                                       method.empty() ? "" : " (" + printable(method.substr(0, 40)) + ")"));
    return;
  }
  keep_listed(quantization, config, *format);
  store_quantised(*format, config);
}

}  // namespace perfcast::ai
