#pragma once
// What one token of a language model asks of a CPU, as plain numbers: any description of a model can be turned into
// one. Quantised weights; keys and values of the context in fp16.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast::ai {

struct LlmWork {
  std::string name;
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t vocabulary = 0;
  double parameters = 0;
  // Read for one generated token: the file without an input embedding that the output matrix does not share; of a
  // mixture of experts, those that one token takes.
  double weight_bytes = 0;
  double file_bytes = 0;                      // must fit in memory
  double kv_bytes_per_token = 0;              // of all layers; 2 x KV heads x head size x 2 bytes x layers
  double prefill_macs_per_token = 0;          // products with weights of the layers; logits are of the last token alone
  double attention_macs_per_token_token = 0;  // all layers: 2 x heads x head size, for each token of the context
  // Share of the weights in blocks of 32 (Q4_0 to Q8_0) instead of K-quants of 256: other kernels read them. Rows that
  // 256 does not divide are stored so.
  double short_block_share = 0;
};

// "bad-llm-work" names the first field that is absent, not positive or not finite.
Status check_llm_work(const LlmWork& work);

// A decoder of plain layers (attention with grouped KV heads, gated feed-forward network) from its sizes; what
// LlmWork's fields come to by their definitions.
struct DecoderSizes {
  std::string name;
  int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_size = 0, feed_forward = 0, vocabulary = 0;
  bool tied_embedding = false;
  double file_bytes = 0;        // of the quantised file
  double embedding_bits = 4.5;  // per weight of the input embedding, where it is not tied
  double short_block_share = 0;
};
LlmWork work_of_decoder(const DecoderSizes& sizes);

// The models that Spare Cores' benchmark runs, all in Q4_K_M, from their public configurations and file sizes. The
// benchmark's column names are their keys: "llm.<column>.tg128.tps".
struct BenchmarkLlm {
  std::string column;
  LlmWork work;
};
const std::vector<BenchmarkLlm>& benchmark_llms();

}  // namespace perfcast::ai
