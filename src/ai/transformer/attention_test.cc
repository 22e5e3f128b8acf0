#include "ai/transformer/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace perfcast::ai {
namespace {

constexpr AttentionShape kShape = {2, 6, 2, 32};

struct Filled {
  KvCache cache{kShape, 3, 200};
  std::vector<float> keys, values;  // [slot][position][kv width]

  Filled() {
    Random random(1);
    const int64_t width = kShape.kv_width();
    keys.resize(static_cast<size_t>(int64_t{600} * width));
    values.resize(keys.size());
    for (float& value : keys) value = static_cast<float>(random.normal());
    for (float& value : values) value = static_cast<float>(random.normal());
    for (int64_t slot = 0; slot < 3; ++slot) {
      for (int64_t position = 0; position < 200; ++position) {
        const int64_t at = (slot * 200 + position) * width;
        cache.write(1, {slot, position}, keys.data() + at, values.data() + at);
      }
    }
  }
  double attended(const float* query, const TokenPlace& place, int64_t head, int64_t i) const {
    const int64_t width = kShape.head_dim, shared = head / kShape.group();
    double sum = 0, weighted = 0;
    for (int64_t position = 0; position <= place.position; ++position) {
      const auto at = static_cast<size_t>((place.slot * 200 + position) * kShape.kv_width() + shared * width);
      double score = 0;
      for (int64_t d = 0; d < width; ++d) {
        score += static_cast<double>(query[head * width + d]) * keys[at + static_cast<size_t>(d)];
      }
      const double share = std::exp(score / std::sqrt(static_cast<double>(width)));
      sum += share;
      weighted += share * values[at + static_cast<size_t>(i)];
    }
    return weighted / sum;
  }
};

TEST(Attention, EachQueryAttendsToItselfAndWhatStandsBefore) {
  const Filled filled;
  std::vector<TokenPlace> places = {{2, 0}, {0, 199}, {1, 63}, {1, 64}};
  for (int64_t position = 50; position < 80; ++position) places.push_back({0, position});
  const auto stride = kShape.query_width() + 7;
  std::vector<float> queries(places.size() * static_cast<size_t>(stride));
  Random random(2);
  for (float& value : queries) value = static_cast<float>(random.normal());
  const auto blocks = query_blocks(places, kShape.group());
  std::vector<float> first;
  for (const TransformerKernels* kernels : transformer_kernels()) {
    for (const int threads : {1, 3}) {
      ThreadTeam team(threads);
      Attention attention(team, *kernels, kShape, 200);
      std::vector<float> out(places.size() * static_cast<size_t>(kShape.query_width()));
      attention.attend(filled.cache, 1, blocks, queries.data(), stride, out.data(), kShape.query_width());
      for (size_t row = 0; row < places.size(); ++row) {
        const float* const query = queries.data() + row * static_cast<size_t>(stride);
        for (int64_t head = 0; head < kShape.heads; ++head) {
          for (int64_t i = 0; i < kShape.head_dim; i += 5) {
            const auto at =
                row * static_cast<size_t>(kShape.query_width()) + static_cast<size_t>(head * kShape.head_dim + i);
            EXPECT_NEAR(out[at], filled.attended(query, places[row], head, i), 2e-6) << kernels->isa;
          }
        }
      }
      if (kernels != transformer_kernels().front()) continue;
      if (first.empty()) first = out;
      EXPECT_EQ(out, first);
    }
  }
}

TEST(Attention, BlocksAreNeighboursOfOneSequence) {
  const std::vector<TokenPlace> places = {{0, 5}, {0, 6}, {1, 7}, {1, 9}, {1, 10}, {1, 11}};
  const auto blocks = query_blocks(places, 8);  // two queries at most
  ASSERT_EQ(blocks.size(), 4u);
  EXPECT_EQ(blocks[0].count, 2);
  EXPECT_EQ(blocks[1].first, 2);
  EXPECT_EQ(blocks[2].position, 9);
  EXPECT_EQ(blocks[2].count, 2);
  EXPECT_EQ(blocks[3].first, 5);
}

TEST(Attention, WorkCountsWholePanelsOfKeys) {
  const QueryBlock token = {0, 1, 0, 99};  // sees 100 tokens
  const AttentionWork work = attention_work({&token, 1}, kShape);
  EXPECT_EQ(work.tasks, 2);
  EXPECT_EQ(work.rows, 6);
  EXPECT_EQ(work.score_macs, 6 * 32 * 128);
  EXPECT_EQ(work.value_macs, 6 * 32 * 100);
  EXPECT_EQ(work.softmax_values, 6 * 128);
  EXPECT_EQ(work.kv_bytes, 2 * 4 * 64 * 100);
  EXPECT_EQ(work.tile_values[2], 2 * 32 * (128 + 100));  // groups of three
  EXPECT_EQ(work.tile_values[0] + work.tile_values[1] + work.tile_values[3], 0);
  const QueryBlock prompt = {0, 5, 0, 0};  // a tile of four queries, one of one, for each head
  const AttentionWork of_prompt = attention_work({&prompt, 1}, kShape);
  EXPECT_EQ(of_prompt.tile_values[3], 6 * 32 * (64 + 4));
  EXPECT_EQ(of_prompt.tile_values[0], 6 * 32 * (64 + 5));
}

}  // namespace
}  // namespace perfcast::ai
