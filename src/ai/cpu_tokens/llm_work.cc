#include "ai/cpu_tokens/llm_work.h"

#include <cmath>

namespace perfcast::ai {

Status check_llm_work(const LlmWork& work) {
  const auto wrong = [&](const char* field, const char* expected) {
    return Error{"bad-llm-work", std::string("the model's ") + field + " can't be used", work.name, expected};
  };
  const auto is_amount = [](double value) { return std::isfinite(value) && value > 0 && value < 1e18; };
  if (work.layers < 1 || work.layers > 100000) return wrong("layers", "1 to 100000");
  if (work.hidden < 1 || work.hidden > 10000000) return wrong("hidden", "1 to 10000000");
  if (!is_amount(work.weight_bytes)) return wrong("weight_bytes", "bytes above 0");
  if (!is_amount(work.file_bytes)) return wrong("file_bytes", "bytes above 0");
  if (!is_amount(work.prefill_macs_per_token)) return wrong("prefill_macs_per_token", "products above 0");
  if (!(work.kv_bytes_per_token >= 0) || !std::isfinite(work.kv_bytes_per_token)) {
    return wrong("kv_bytes_per_token", "bytes, 0 or above");
  }
  if (!(work.attention_macs_per_token_token >= 0) || !std::isfinite(work.attention_macs_per_token_token)) {
    return wrong("attention_macs_per_token_token", "products, 0 or above");
  }
  if (!(work.short_block_share >= 0 && work.short_block_share <= 1)) return wrong("short_block_share", "0 to 1");
  return {};
}

LlmWork work_of_decoder(const DecoderSizes& sizes) {
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  const double hidden = number(sizes.hidden), layers = number(sizes.layers);
  const double width = number(sizes.heads) * number(sizes.head_size);
  const double kv_width = number(sizes.kv_heads) * number(sizes.head_size);
  const double embedding = number(sizes.vocabulary) * hidden;
  LlmWork work;
  work.name = sizes.name;
  work.layers = sizes.layers;
  work.hidden = sizes.hidden;
  work.vocabulary = sizes.vocabulary;
  work.prefill_macs_per_token =
      layers * (2 * hidden * width + 2 * hidden * kv_width + 3 * hidden * number(sizes.feed_forward));
  work.parameters = work.prefill_macs_per_token + embedding * (sizes.tied_embedding ? 1 : 2);
  work.file_bytes = sizes.file_bytes;
  work.weight_bytes = sizes.file_bytes - (sizes.tied_embedding ? 0 : embedding * sizes.embedding_bits / 8);
  work.kv_bytes_per_token = layers * 2 * kv_width * 2;
  work.attention_macs_per_token_token = layers * 2 * width;
  work.short_block_share = sizes.short_block_share;
  return work;
}

const std::vector<BenchmarkLlm>& benchmark_llms() {
  static const std::vector<BenchmarkLlm> models = [] {
    std::vector<BenchmarkLlm> all;
    const auto add = [&](const char* column, const DecoderSizes& sizes) {
      all.push_back({column, work_of_decoder(sizes)});
    };
    // Rows of 576 are no multiple of 256: most of its matrices are Q5_0 and Q8_0.
    add("SmolLM-135M.Q4_K_M", {"SmolLM-135M", 30, 576, 9, 3, 64, 1536, 49152, true, 105.4e6, 0, 1});
    add("qwen1_5-0_5b-chat-q4_k_m", {"Qwen1.5-0.5B", 24, 1024, 16, 16, 64, 2816, 151936, false, 407e6, 4.5, 0});
    add("gemma-2b.Q4_K_M", {"gemma-2b", 18, 2048, 8, 1, 256, 16384, 256000, true, 1.63e9, 0, 0});
    add("llama-7b.Q4_K_M", {"LLaMA-7B", 32, 4096, 32, 32, 128, 11008, 32000, false, 4.08e9, 4.5, 0});
    add("phi-4-q4", {"phi-4", 40, 5120, 40, 10, 128, 17920, 100352, false, 9.05e9, 4.5, 0});
    add("Llama-3.3-70B-Instruct-Q4_K_M",
        {"Llama-3.3-70B", 80, 8192, 64, 8, 128, 28672, 128256, false, 42.52e9, 4.5, 0});
    return all;
  }();
  return models;
}

}  // namespace perfcast::ai
