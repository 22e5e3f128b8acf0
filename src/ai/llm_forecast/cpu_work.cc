#include "ai/llm_forecast/cpu_work.h"

namespace perfcast::ai {
namespace {

// Q4_0, Q5_0 and Q8_0 have blocks of 32 values, as int4 and int8 of other formats do; K-quants have 256.
bool short_blocks(Precision weights) {
  return weights == Precision::kQ4_0 || weights == Precision::kQ5_0 || weights == Precision::kQ8_0 ||
         weights == Precision::kInt4 || weights == Precision::kInt8;
}

}  // namespace

Result<LlmWork> cpu_work_of(const LlmConfig& config, Precision weights, std::optional<double> bits_per_value) {
  if (!config.has_cache()) {
    return Error{"no-decoder", config.name + " generates no tokens", "MODEL", "a decoder: GPT, Llama, Qwen, ..."};
  }
  const auto parameters = count_parameters(config);
  if (!parameters) return parameters.error();
  const double bytes = (bits_per_value ? *bits_per_value : info(weights).bits_per_value) / 8;
  const auto real = [](int64_t value) { return static_cast<double>(value); };
  LlmWork work;
  work.name = config.name;
  work.layers = config.layers;
  work.hidden = config.hidden;
  work.vocabulary = config.vocab;
  work.parameters = real(parameters->total);
  // A look-up reads one row of an input embedding; a tied one is the output matrix as well.
  const double looked_up = config.tied_embeddings ? 0 : real(parameters->embedding);
  work.weight_bytes = (real(parameters->active) - looked_up) * bytes;
  work.file_bytes = config.stored_weight_bytes.value_or(real(parameters->total) * bytes);
  constexpr double kCacheBytes = 2;  // fp16
  work.kv_bytes_per_token = kCacheBytes * real(config.cache_values_per_token()) * real(config.attention_layers());
  const double head = config.tied_embeddings ? 0 : real(parameters->head);
  work.prefill_macs_per_token = real(parameters->active) - real(parameters->embedding) - head;
  work.attention_macs_per_token_token = 2 * real(config.query_width()) * real(config.attention_layers());
  work.short_block_share = short_blocks(weights) ? 1 : 0;
  return work;
}

}  // namespace perfcast::ai
