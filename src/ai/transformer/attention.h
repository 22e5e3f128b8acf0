#pragma once
// Keys and values of the tokens so far, and causal attention to them with grouped queries.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ai/transformer/kernel/transformer_kernels.h"
#include "ai/transformer/thread_team.h"
#include "machine/ceiling/aligned_array.h"

namespace perfcast::ai {

struct AttentionShape {
  int64_t layers = 0, heads = 0, kv_heads = 0, head_dim = 0;  // head_dim: a multiple of kVectorStep

  int64_t group() const { return heads / kv_heads; }  // queries that share a head of keys and values
  int64_t query_width() const { return heads * head_dim; }
  int64_t kv_width() const { return kv_heads * head_dim; }
};

// A token of a step: which sequence it belongs to, and how many stand before it there.
struct TokenPlace {
  int64_t slot = 0, position = 0;
};

// Single precision. Keys of 64 tokens make a panel, so that scores are products of rows with panels; values stand token
// by token, so that their weighted sums are too.
class KvCache {
 public:
  KvCache() = default;
  // Throws std::bad_alloc.
  KvCache(const AttentionShape& shape, int64_t slots, int64_t tokens);

  int64_t tokens() const { return tokens_; }  // of one slot
  static double bytes_for(const AttentionShape& shape, int64_t slots, int64_t tokens);
  double bytes() const { return 2 * sizeof(float) * static_cast<double>(keys_.size()); }

  // `key` and `value`: kv_width() values of one token, keys already turned.
  void write(int64_t layer, const TokenPlace& place, const float* key, const float* value);
  const float* keys(int64_t layer, int64_t slot, int64_t head) const { return keys_.data() + start(layer, slot, head); }
  const float* values(int64_t layer, int64_t slot, int64_t head) const {
    return values_.data() + start(layer, slot, head);
  }

 private:
  int64_t start(int64_t layer, int64_t slot, int64_t head) const {
    return ((layer * slots_ + slot) * shape_.kv_heads + head) * padded_ * shape_.head_dim;
  }

  AttentionShape shape_;
  int64_t slots_ = 0, tokens_ = 0, padded_ = 0;
  AlignedArray<float> keys_;    // [layers][slots][heads][tokens / 64][head_dim][64]
  AlignedArray<float> values_;  // [layers][slots][heads][tokens][head_dim]
};

// Queries of one sequence that stand one behind the other and share passes over keys and values.
struct QueryBlock {
  int64_t first = 0, count = 0;    // rows of the step
  int64_t slot = 0, position = 0;  // of the first
};
// At most kBlockRows rows of scores for a head of keys; tokens of a slot that are neighbours are in order.
inline constexpr int64_t kBlockRows = 16;
std::vector<QueryBlock> query_blocks(std::span<const TokenPlace> places, int64_t group);

// What a layer's attention over such blocks does, exactly as it is executed: whole panels of keys, and values up to the
// last one that a tile of queries sees. For forecasts of its time.
struct AttentionWork {
  double tasks = 0;  // blocks x heads of keys and values
  double rows = 0;   // queries x heads
  double score_macs = 0, value_macs = 0;
  double softmax_values = 0;  // of all rows
  double kv_bytes = 0;        // read, each block on its own
  // Keys and values that tiles of 1 to kTileRows rows go through, each tile on its own.
  std::array<double, static_cast<size_t>(kTileRows)> tile_values = {};
};
AttentionWork attention_work(std::span<const QueryBlock> blocks, const AttentionShape& shape);

// One layer's attention; not for several callers at once.
class Attention {
 public:
  Attention(ThreadTeam& team, const TransformerKernels& kernels, const AttentionShape& shape, int64_t tokens);

  // `queries`: rows of the step, turned, `stride` floats apart; keys and values of all of them are in the cache. `out`:
  // query_width() values a row, out_stride apart. The same bits whatever the number of threads.
  void attend(const KvCache& cache, int64_t layer, std::span<const QueryBlock> blocks, const float* queries,
              int64_t stride, float* out, int64_t out_stride);

  static double scratch_bytes_for(int threads, const AttentionShape& shape, int64_t tokens);
  double scratch_bytes() const { return static_cast<double>(scores_.size()) * sizeof(float); }

 private:
  void attend_block(const KvCache& cache, int64_t layer, const QueryBlock& block, int64_t head, const float* queries,
                    int64_t stride, float* out, int64_t out_stride, float* scores) const;

  ThreadTeam& team_;
  const TransformerKernels& kernels_;
  AttentionShape shape_;
  int64_t row_;  // floats of one row of scores
  AlignedArray<float> scores_;
};

}  // namespace perfcast::ai
