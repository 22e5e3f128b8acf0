#pragma once
// Where a transformer's weights come from, row by row: a seed, or files.

#include <cstdint>
#include <span>

#include "ai/llm/model_config.h"
#include "base/result.h"

namespace perfcast::ai {

enum class WeightPart : uint8_t {
  kEmbedding,      // vocab rows of hidden values
  kAttentionNorm,  // one row; so are the other norms
  kQuery,          // heads * head_dim rows of hidden values
  kKey,            // kv_heads * head_dim rows
  kValue,
  kAttentionOutput,  // hidden rows of heads * head_dim values
  kFfnNorm,
  kGate,  // ffn rows of hidden values
  kUp,
  kDown,  // hidden rows of ffn values
  kFinalNorm,
  kHead,  // vocab rows of hidden values
};

class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // Fills one row; `layer` is 0 where a part isn't a layer's. From several threads.
  virtual Status row(WeightPart part, int64_t layer, int64_t row, std::span<float> values) const = 0;
};

// Uniform numbers, of variance 1 / inputs, so that what passes through a product keeps its size; what is added to the
// stream of activations is smaller by sqrt(2 layers), as usual. Norms are 1. A row depends on the seed, the part, the
// layer and its number alone.
class RandomWeights : public WeightSource {
 public:
  RandomWeights(int64_t layers, uint64_t seed) : layers_(layers), seed_(seed) {}
  Status row(WeightPart part, int64_t layer, int64_t row, std::span<float> values) const override;

 private:
  int64_t layers_;
  uint64_t seed_;
};

}  // namespace perfcast::ai
