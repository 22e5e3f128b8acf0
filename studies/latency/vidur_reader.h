#pragma once
// Vidur's operator and collective profiles (github.com/microsoft/vidur, data/profiling; MIT, Microsoft): fp16 layers of
// language models on one rank, and all-reduces, as two CSV tables. Times are medians, of kernels on the device.

#include <string>
#include <string_view>
#include <vector>

#include "ai/latency/model/measured_operator.h"
#include "base/result.h"

namespace perfcast::ai::latency_study {

// A linear layer: attn_pre_proj, attn_post_proj, mlp_up_proj or mlp_down_proj.
struct VidurProduct : MeasuredProduct {  // batch 1, fp16 weights
  size_t device = 0, model = 0;          // into the names of VidurProfile
};

// input_layernorm, post_attention_layernorm: kNorm; mlp_act: kUnary; add: kBinary; attn_rope: kCopy. Embeddings are
// left out: a lookup that is split over ranks moves as many bytes as the tokens at hand happen to ask for.
struct VidurVector : MeasuredVector {
  size_t device = 0, model = 0;
};

struct VidurProfile {
  std::vector<std::string> devices;  // as in the table: "a100", "a40", "h100"
  std::vector<std::string> models;
  std::vector<VidurProduct> products;
  std::vector<VidurVector> vectors;
};

// An all-reduce inside one node.
struct VidurAllReduce : MeasuredAllReduce {
  std::string system;  // "h100_dgx"
};

// mlp.csv. Empty times are left out. "missing-column", "bad-number"; "bad-vidur" with the line for a shape or time that
// no layer has (not positive, no whole number of heads, over 2^40).
Result<VidurProfile> parse_vidur_layers(std::string_view text, const std::string& source);
// collectives.csv: its all_reduce rows whose workers share one node.
Result<std::vector<VidurAllReduce>> parse_vidur_all_reduces(std::string_view text, const std::string& source);

// FOLDER/mlp.csv.gz, FOLDER/collectives.csv.gz.
Result<VidurProfile> read_vidur_layers(const std::string& folder);
Result<std::vector<VidurAllReduce>> read_vidur_all_reduces(const std::string& folder);

}  // namespace perfcast::ai::latency_study
