#pragma once
// The same forward pass once more, plainly and in double precision: what transformers are held to.

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "ai/transformer/transformer_model.h"
#include "ai/transformer/weight_source.h"

namespace perfcast::ai {

inline TransformerModel small_transformer(bool tied) {
  TransformerModel model;
  LlmConfig& config = model.config;
  config = built_in_transformer("perfcast-15m")->config;
  config.name = tied ? "small, tied" : "small";
  config.tied_embeddings = tied;
  config.layers = 2;
  config.hidden = 48;
  config.heads = tied ? 4 : 3;
  config.kv_heads = tied ? 2 : 1;
  config.head_dim = tied ? 32 : 16;
  config.ffn = 112;
  config.vocab = 150;
  config.max_positions = 512;
  return model;
}

class ReferenceTransformer {
 public:
  // `in_bytes`: weights are rounded to 127 steps of their row's largest, activations are not.
  ReferenceTransformer(const TransformerModel& model, const WeightSource& weights, bool in_bytes)
      : model_(model), weights_(weights), in_bytes_(in_bytes) {}

  // Behind the last token.
  std::vector<double> logits(std::span<const int32_t> tokens) const {
    const LlmConfig& config = model_.config;
    const auto head = config.tied_embeddings ? WeightPart::kEmbedding : WeightPart::kHead;
    std::vector<Row> stream;
    for (const int32_t token : tokens)
      stream.push_back(row(WeightPart::kEmbedding, 0, token, config.hidden, in_bytes_));
    for (int64_t layer = 0; layer < config.layers; ++layer) add_layer(layer, stream);
    const Row normed = norm(stream.back(), row(WeightPart::kFinalNorm, 0, 0, config.hidden, false));
    return product(head, 0, config.vocab, normed);
  }

 private:
  using Row = std::vector<double>;

  Row row(WeightPart part, int64_t layer, int64_t index, int64_t size, bool rounded) const {
    std::vector<float> values(static_cast<size_t>(size));
    if (!weights_.row(part, layer, index, values)) return {};
    if (rounded) {
      float largest = 0;
      for (const float value : values) largest = std::max(largest, std::abs(value));
      for (float& value : values) value = std::round(value / largest * 127) * largest / 127;
    }
    return {values.begin(), values.end()};
  }

  Row product(WeightPart part, int64_t layer, int64_t outputs, const Row& x) const {
    Row out;
    for (int64_t i = 0; i < outputs; ++i) {
      const Row weights = row(part, layer, i, static_cast<int64_t>(x.size()), in_bytes_);
      double sum = 0;
      for (size_t k = 0; k < x.size(); ++k) sum += weights[k] * x[k];
      out.push_back(sum);
    }
    return out;
  }

  Row norm(const Row& x, const Row& weight) const {
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double factor = 1 / std::sqrt(squares / static_cast<double>(x.size()) + model_.norm_epsilon);
    Row out;
    for (size_t i = 0; i < x.size(); ++i) out.push_back(x[i] * factor * weight[i]);
    return out;
  }

  void turn(Row& heads, int64_t position) const {
    const auto width = static_cast<size_t>(model_.config.head_dim), half = width / 2;
    for (size_t first = 0; first < heads.size(); first += width) {
      for (size_t i = 0; i < half; ++i) {
        const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(width);
        const double angle = static_cast<double>(position) * std::pow(model_.rope_theta, exponent);
        const double a = heads[first + i], b = heads[first + half + i];
        heads[first + i] = a * std::cos(angle) - b * std::sin(angle);
        heads[first + half + i] = b * std::cos(angle) + a * std::sin(angle);
      }
    }
  }

  Row attention(const Row& query, const std::vector<Row>& keys, const std::vector<Row>& values) const {
    const auto width = static_cast<size_t>(model_.config.head_dim);
    const auto heads = static_cast<size_t>(model_.config.heads), kv_heads = static_cast<size_t>(model_.config.kv_heads);
    Row out(heads * width, 0);
    for (size_t head = 0; head < heads; ++head) {
      const size_t shared = head / (heads / kv_heads);
      Row shares;
      double sum = 0;
      for (const Row& key : keys) {
        double score = 0;
        for (size_t i = 0; i < width; ++i) score += query[head * width + i] * key[shared * width + i];
        shares.push_back(std::exp(score / std::sqrt(static_cast<double>(width))));
        sum += shares.back();
      }
      for (size_t t = 0; t < values.size(); ++t) {
        for (size_t i = 0; i < width; ++i) out[head * width + i] += shares[t] / sum * values[t][shared * width + i];
      }
    }
    return out;
  }

  void add_layer(int64_t layer, std::vector<Row>& stream) const {
    const LlmConfig& config = model_.config;
    const int64_t kv_width = config.kv_heads * config.head_dim;
    std::vector<Row> keys, values, added;
    const Row attention_norm = row(WeightPart::kAttentionNorm, layer, 0, config.hidden, false);
    const Row ffn_norm = row(WeightPart::kFfnNorm, layer, 0, config.hidden, false);
    for (size_t t = 0; t < stream.size(); ++t) {
      const Row normed = norm(stream[t], attention_norm);
      Row query = product(WeightPart::kQuery, layer, config.heads * config.head_dim, normed);
      keys.push_back(product(WeightPart::kKey, layer, kv_width, normed));
      values.push_back(product(WeightPart::kValue, layer, kv_width, normed));
      turn(query, static_cast<int64_t>(t));
      turn(keys.back(), static_cast<int64_t>(t));
      const Row attended = attention(query, keys, values);
      added.push_back(product(WeightPart::kAttentionOutput, layer, config.hidden, attended));
    }
    for (size_t t = 0; t < stream.size(); ++t) {
      Row& x = stream[t];
      for (size_t i = 0; i < x.size(); ++i) x[i] += added[t][i];
      const Row normed = norm(x, ffn_norm);
      const Row gate = product(WeightPart::kGate, layer, config.ffn, normed);
      Row up = product(WeightPart::kUp, layer, config.ffn, normed);
      for (size_t i = 0; i < up.size(); ++i) up[i] *= gate[i] / (1 + std::exp(-gate[i]));
      const Row down = product(WeightPart::kDown, layer, config.hidden, up);
      for (size_t i = 0; i < x.size(); ++i) x[i] += down[i];
    }
  }

  const TransformerModel& model_;
  const WeightSource& weights_;
  bool in_bytes_;
};

}  // namespace perfcast::ai
