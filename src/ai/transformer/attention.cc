#include "ai/transformer/attention.h"

#include <algorithm>
#include <cmath>

namespace perfcast::ai {
namespace {

int64_t whole_panels(int64_t tokens) { return (tokens + kPanelColumns - 1) / kPanelColumns * kPanelColumns; }

int64_t rows_of_block(int64_t group) { return std::max(group, kBlockRows); }

}  // namespace

KvCache::KvCache(const AttentionShape& shape, int64_t slots, int64_t tokens)
    : shape_(shape), slots_(slots), tokens_(tokens), padded_(whole_panels(tokens)) {
  const auto size = static_cast<size_t>(shape.layers * slots * shape.kv_width() * padded_);
  keys_ = AlignedArray<float>(size);
  values_ = AlignedArray<float>(size);
}

double KvCache::bytes_for(const AttentionShape& shape, int64_t slots, int64_t tokens) {
  return 2 * sizeof(float) * static_cast<double>(shape.layers) * static_cast<double>(slots) *
         static_cast<double>(shape.kv_width()) * static_cast<double>(whole_panels(tokens));
}

void KvCache::write(int64_t layer, const TokenPlace& place, const float* key, const float* value) {
  const int64_t width = shape_.head_dim;
  const int64_t panel = place.position / kPanelColumns, column = place.position % kPanelColumns;
  for (int64_t head = 0; head < shape_.kv_heads; ++head) {
    const int64_t begin = start(layer, place.slot, head);
    float* const keys = keys_.data() + begin + panel * width * kPanelColumns + column;
    for (int64_t i = 0; i < width; ++i) keys[i * kPanelColumns] = key[head * width + i];
    std::copy_n(value + head * width, width, values_.data() + begin + place.position * width);
  }
}

std::vector<QueryBlock> query_blocks(std::span<const TokenPlace> places, int64_t group) {
  const int64_t most = std::max<int64_t>(1, kBlockRows / group);
  std::vector<QueryBlock> blocks;
  blocks.reserve(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const TokenPlace& place = places[i];
    if (!blocks.empty()) {
      QueryBlock& last = blocks.back();
      if (last.slot == place.slot && last.position + last.count == place.position && last.count < most) {
        ++last.count;
        continue;
      }
    }
    blocks.push_back({static_cast<int64_t>(i), 1, place.slot, place.position});
  }
  return blocks;
}

AttentionWork attention_work(std::span<const QueryBlock> blocks, const AttentionShape& shape) {
  AttentionWork work;
  const auto width = static_cast<double>(shape.head_dim), heads = static_cast<double>(shape.heads);
  for (const QueryBlock& block : blocks) {
    work.tasks += static_cast<double>(shape.kv_heads);
    const int64_t tile = block.count == 1 ? 1 : kTileRows;
    for (int64_t first = 0; first < block.count; first += tile) {
      const int64_t rows = std::min(tile, block.count - first);
      const int64_t seen = block.position + first + rows;
      const auto queries = static_cast<double>(rows) * heads;
      work.rows += queries;
      work.score_macs += queries * width * static_cast<double>(whole_panels(seen));
      work.value_macs += queries * width * static_cast<double>(seen);
      const double gone_through = width * static_cast<double>(whole_panels(seen) + seen);
      if (block.count > 1) {
        work.tile_values[static_cast<size_t>(rows - 1)] += heads * gone_through;
      } else {
        const int64_t group = shape.group();
        const int64_t whole_tiles = group / kTileRows;
        const auto kv_heads = static_cast<double>(shape.kv_heads);
        work.tile_values.back() += kv_heads * gone_through * static_cast<double>(whole_tiles);
        if (group % kTileRows > 0)
          work.tile_values[static_cast<size_t>(group % kTileRows - 1)] += kv_heads * gone_through;
      }
      work.softmax_values += queries * static_cast<double>(whole_panels(block.position + block.count));
    }
    const auto seen = static_cast<double>(block.position + block.count);
    work.kv_bytes += 2 * sizeof(float) * static_cast<double>(shape.kv_width()) * seen;
  }
  return work;
}

Attention::Attention(ThreadTeam& team, const TransformerKernels& kernels, const AttentionShape& shape, int64_t tokens)
    : team_(team),
      kernels_(kernels),
      shape_(shape),
      row_(whole_panels(tokens)),
      scores_(static_cast<size_t>(team.threads() * rows_of_block(shape.group()) * whole_panels(tokens))) {}

double Attention::scratch_bytes_for(int threads, const AttentionShape& shape, int64_t tokens) {
  return sizeof(float) * static_cast<double>(threads) * static_cast<double>(rows_of_block(shape.group())) *
         static_cast<double>(whole_panels(tokens));
}

void Attention::attend(const KvCache& cache, int64_t layer, std::span<const QueryBlock> blocks, const float* queries,
                       int64_t stride, float* out, int64_t out_stride) {
  const auto count = static_cast<int64_t>(blocks.size());
  team_.run(count * shape_.kv_heads, [&](int64_t item, int thread) {
    attend_block(cache, layer, blocks[static_cast<size_t>(item / shape_.kv_heads)], item % shape_.kv_heads, queries,
                 stride, out, out_stride, scores_.data() + thread * rows_of_block(shape_.group()) * row_);
  });
}

// Row (query b, head j of the group) of the scores is b * group + j. Tiles of rows that share a pass: heads of one
// query, or queries of one head.
void Attention::attend_block(const KvCache& cache, int64_t layer, const QueryBlock& block, int64_t head,
                             const float* queries, int64_t stride, float* out, int64_t out_stride,
                             float* scores) const {
  const int64_t width = shape_.head_dim, group = shape_.group();
  const int64_t padded = whole_panels(block.position + block.count);
  const float* const keys = cache.keys(layer, block.slot, head);
  const float* const values = cache.values(layer, block.slot, head);
  const float* const first_query = queries + block.first * stride + head * group * width;
  float* const first_out = out + block.first * out_stride + head * group * width;
  const float scale = 1.0f / std::sqrt(static_cast<float>(width));

  const bool one = block.count == 1;
  const int64_t tile_step = one ? width : stride, score_step = one ? padded : group * padded;
  const int64_t out_step = one ? width : out_stride;
  const int64_t outer = one ? 1 : group, inner = one ? group : block.count;
  for (int64_t j = 0; j < outer; ++j) {
    for (int64_t first = 0; first < inner; first += kTileRows) {
      const int64_t rows = std::min(kTileRows, inner - first);
      const int64_t seen = one ? block.position + 1 : block.position + first + rows;
      float* const tile = scores + j * padded + first * score_step;
      const float* const from = first_query + j * width + first * tile_step;
      for (int64_t key = 0; key < seen; key += kPanelColumns) {
        kernels_.product(keys + key * width, kPanelColumns, width, kPanelColumns, from, tile_step, rows, tile + key,
                         score_step);
      }
      float shares[kTileRows];
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t own = one ? seen : block.position + first + r + 1;
        shares[r] = kernels_.soften(tile + r * score_step, own, padded, scale);
      }
      float* const to = first_out + j * width + first * out_step;
      kernels_.product(values, width, seen, width, tile, score_step, rows, to, out_step);
      for (int64_t r = 0; r < rows; ++r) kernels_.multiply(to + r * out_step, width, shares[r]);
    }
  }
}

}  // namespace perfcast::ai
