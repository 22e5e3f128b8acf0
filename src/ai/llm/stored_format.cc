#include "ai/llm/stored_format.h"

#include <fmt/format.h>

namespace perfcast::ai {

void store_quantised(const QuantisedFormat& format, LlmConfig& config) {
  const auto count = count_parameters(config);
  if (!count) return;
  const auto real = [](int64_t value) { return static_cast<double>(value); };
  const std::string_view other = config.stored_precision ? info(*config.stored_precision).name : "16 bits";
  const double whole = config.stored_precision ? info(*config.stored_precision).bits_per_value : 16;
  const auto mixed = [&](double kept) { return kept * whole + (1 - kept) * format.bits; };
  const StoredBits bits = {whole, mixed(format.kept_attention), mixed(format.kept_ffn), mixed(format.kept_experts),
                           mixed(format.kept_head)};
  const double products = config.gated_ffn ? 3 : 2;
  const double experts = products * real(config.hidden) * real(config.moe.expert_ffn) * real(config.moe.experts) *
                         real(config.moe.moe_layers);
  const double routers = real(config.hidden) * real(config.moe.experts) * real(config.moe.moe_layers);
  const double ffn = std::max(0.0, real(count->ffn) - experts - routers);
  const double sum = (real(count->embedding) + real(count->norm) + routers) * bits.embedding +
                     real(count->attention) * bits.attention + ffn * bits.ffn + experts * bits.experts +
                     real(count->head) * bits.head;
  config.stored_bits = bits;
  config.stored_weight_bytes = sum / 8;
  config.stored_weight_name = format.name;
  config.stored_activations = format.activations;
  const bool only_experts = format.kept_attention >= 1 && format.kept_ffn >= 1;
  std::string what = only_experts ? "experts" : "products of layers";
  if (format.kept_head < 1 && !config.tied_embeddings) what += " and of the head";
  config.notes.push_back(fmt::format("weights ship as {} ({:.4g} bits with scales) for the {}, in {} for the rest",
                                     format.name, format.bits, what, other));
}

}  // namespace perfcast::ai
