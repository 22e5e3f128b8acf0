#include "ai/transformer/transformer.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

#include "ai/transformer/attention.h"
#include "ai/transformer/kernel/transformer_kernels.h"
#include "ai/transformer/matrix_products.h"
#include "ai/transformer/packed_matrix.h"
#include "ai/transformer/thread_team.h"
#include "base/text.h"
#include "machine/ceiling/free_memory.h"

namespace perfcast::ai {
namespace {

constexpr int64_t kUsualContext = 2048;

AttentionShape attention_shape(const LlmConfig& config) {
  return {config.layers, config.heads, config.kv_heads, config.head_dim};
}

Status check_options(const TransformerModel& model, const TransformerOptions& options) {
  const auto refuse = [](const char* option, int64_t found, const std::string& expected) {
    return usage_error("bad-usage", std::string(option) + " " + std::to_string(found) + " can't be", option, expected);
  };
  if (options.precision != Precision::kFp32 && options.precision != Precision::kInt8) {
    return usage_error("bad-usage", "weights in " + std::string(info(options.precision).name) + " can't be run",
                       "precision", "fp32 or int8");
  }
  if (options.threads < 1 || options.threads > kMostTransformerThreads) {
    return refuse("threads", options.threads, "1 to " + std::to_string(kMostTransformerThreads));
  }
  if (options.slots < 1 || options.slots > kMostTransformerSlots) {
    return refuse("slots", options.slots, "1 to " + std::to_string(kMostTransformerSlots));
  }
  const int64_t most = model.config.max_positions > 0 ? model.config.max_positions : int64_t{1} << 20;
  if (options.context < 0 || options.context > most) {
    return refuse("context", options.context, "1 to " + std::to_string(most) + ", or 0");
  }
  return {};
}

// Floats between two rows of each of a pass's arrays.
struct PassStrides {
  int64_t hidden = 0, qkv = 0, attention = 0, gate = 0, ffn = 0, logit = 0;
  explicit PassStrides(const LlmConfig& config) {
    const auto whole = [](int64_t width) { return panels_of(width) * kPanelColumns; };
    const AttentionShape shape = attention_shape(config);
    hidden = whole(config.hidden);
    qkv = whole(shape.query_width() + 2 * shape.kv_width());
    attention = shape.query_width();
    gate = whole(2 * config.ffn);
    ffn = config.ffn;
    logit = whole(config.vocab);
  }
};

int64_t logit_rows(int64_t slots) { return padded_rows(std::min(slots, kPassRows)); }

int64_t most_inputs(const LlmConfig& config) {
  return std::max({config.hidden, config.ffn, attention_shape(config).query_width()});
}

// Of all matrices that load() packs.
double arena_bytes(const LlmConfig& config, Precision precision) {
  const auto bytes = [&](int64_t outputs, int64_t inputs) {
    return PackedMatrix::arena_bytes(outputs, inputs, precision);
  };
  const AttentionShape shape = attention_shape(config);
  const double layer = bytes(shape.query_width() + 2 * shape.kv_width(), config.hidden) +
                       bytes(config.hidden, shape.query_width()) + bytes(2 * config.ffn, config.hidden) +
                       bytes(config.hidden, config.ffn);
  return static_cast<double>(config.layers) * layer +
         (config.tied_embeddings ? 1 : 2) * bytes(config.vocab, config.hidden);
}

// Memory is touched as it is taken, so a model that is too large must be refused beforehand.
Status check_memory(const TransformerModel& model, const TransformerOptions& options) {
  const TransformerMemory memory = memory_for(model, options);
  const double answers = sizeof(float) * static_cast<double>(options.slots) * static_cast<double>(model.config.vocab);
  const double free = free_memory_bytes();
  if (memory.total_bytes() + answers <= free) return {};
  return environment_error("out-of-memory",
                           printable(model.config.name) + " takes " + human_bytes(memory.weights_bytes) + ", " +
                               human_bytes(memory.cache_bytes) + " for its cache and " +
                               human_bytes(memory.scratch_bytes + answers) + " to compute with, and " +
                               human_bytes(free) + " are free",
                           model.config.source, "fewer slots, a shorter context, int8 weights or a smaller model");
}

}  // namespace

TransformerMemory memory_for(const TransformerModel& model, const TransformerOptions& options) {
  const LlmConfig& config = model.config;
  const auto real = [](int64_t value) { return static_cast<double>(value); };
  const AttentionShape shape = attention_shape(config);
  const PassStrides strides(config);
  TransformerMemory memory;
  memory.weights_bytes =
      arena_bytes(config, options.precision) + sizeof(float) * real(config.hidden) * (2 * real(config.layers) + 1);
  memory.cache_bytes = KvCache::bytes_for(shape, options.slots, options.context);
  const double floats =
      real(padded_rows(kPassRows)) * (3 * real(strides.hidden) + real(strides.qkv) + real(strides.attention) +
                                      real(strides.gate) + real(strides.ffn)) +
      real(logit_rows(options.slots)) * real(strides.logit) + real(options.context) * real(shape.head_dim / 2) * 2;
  memory.scratch_bytes = sizeof(float) * floats + MatrixProducts::scratch_bytes_for(kPassRows, most_inputs(config)) +
                         Attention::scratch_bytes_for(options.threads, shape, options.context);
  return memory;
}

struct Transformer::State {
  struct LayerWeights {
    AlignedArray<float> attention_norm, ffn_norm;
    PackedMatrix qkv, attention_output, gate_up, down;
  };

  ThreadTeam team;  // lies at lines of memory of its own
  TransformerModel model;
  TransformerOptions options;
  AttentionShape shape;
  const TransformerKernels& kernels;
  MatrixProducts products;
  Attention attention;

  WeightArena arena;
  PackedMatrix embedding;  // of untied heads
  PackedMatrix head;
  AlignedArray<float> final_norm;
  std::vector<LayerWeights> layers;
  KvCache cache;
  std::vector<int64_t> lengths;
  AlignedArray<float> cosines, sines;  // [context x head_dim / 2]
  OperatorClock clock;

  // Activations of a pass: rows of whole panels.
  int64_t hidden_stride = 0, qkv_stride = 0, attention_stride = 0, gate_stride = 0, ffn_stride = 0, logit_stride = 0;
  AlignedArray<float> stream, normed, qkv, attended, added, gates, gated, logits;
  std::vector<TokenPlace> places;
  std::vector<int32_t> tokens;

  State(const TransformerModel& model, const TransformerOptions& options);
  Status load(const WeightSource& weights);
  Result<PackedMatrix> pack(const WeightSource& weights, int64_t layer, int64_t inputs,
                            std::initializer_list<std::pair<WeightPart, int64_t>> parts);
  void make_room();
  const PackedMatrix& embedding_table() const { return model.config.tied_embeddings ? head : embedding; }
  Status pass(std::span<const int64_t> wanted);
  Status layer_pass(int64_t layer, int64_t rows, std::span<const QueryBlock> blocks);
  void norm(const AlignedArray<float>& weight, int64_t rows, const float* from, float* to);
  void turn_row(int64_t row);
  // For each row, shared among the threads where there are many.
  template <typename Work>
  void for_rows(int64_t rows, const Work& work) {
    if (rows >= kManyRows) return team.run(rows, [&](int64_t row, int) { work(row); });
    for (int64_t row = 0; row < rows; ++row) work(row);
  }
};

Transformer::State::State(const TransformerModel& given, const TransformerOptions& with)
    : team(with.threads),
      model(given),
      options(with),
      shape(attention_shape(given.config)),
      kernels(*with.kernels),
      products(team, kernels, kPassRows, most_inputs(given.config)),
      attention(team, kernels, shape, with.context),
      arena(static_cast<size_t>(arena_bytes(given.config, with.precision))),
      layers(static_cast<size_t>(given.config.layers)),
      cache(shape, with.slots, with.context),
      lengths(static_cast<size_t>(with.slots), 0) {
  options.threads = team.threads();
  const PassStrides strides(given.config);
  hidden_stride = strides.hidden;
  qkv_stride = strides.qkv;
  attention_stride = strides.attention;
  gate_stride = strides.gate;
  ffn_stride = strides.ffn;
  logit_stride = strides.logit;
}

// Several parts below each other: queries, keys and values; gate and up.
Result<PackedMatrix> Transformer::State::pack(const WeightSource& weights, int64_t layer, int64_t inputs,
                                              std::initializer_list<std::pair<WeightPart, int64_t>> parts) {
  int64_t outputs = 0;
  for (const auto& part : parts) outputs += part.second;
  const auto row = [&](int64_t output, std::span<float> values) -> Status {
    for (const auto& [part, rows] : parts) {
      if (output < rows) return weights.row(part, layer, output, values);
      output -= rows;
    }
    return {};
  };
  return PackedMatrix::pack(outputs, inputs, options.precision, options.threads, row, &arena);
}

Status Transformer::State::load(const WeightSource& weights) {
  const LlmConfig& config = model.config;
  const int64_t hidden = config.hidden;
  const auto take = [](Result<PackedMatrix> packed, PackedMatrix& into) -> Status {
    if (!packed) return packed.error();
    into = std::move(*packed);
    return {};
  };
  const auto take_norm = [&](WeightPart part, int64_t layer, AlignedArray<float>& into) {
    into = AlignedArray<float>(static_cast<size_t>(hidden));
    return weights.row(part, layer, 0, into);
  };
  for (int64_t i = 0; i < config.layers; ++i) {
    LayerWeights& layer = layers[static_cast<size_t>(i)];
    if (auto status = take_norm(WeightPart::kAttentionNorm, i, layer.attention_norm); !status) return status;
    if (auto status = take_norm(WeightPart::kFfnNorm, i, layer.ffn_norm); !status) return status;
    auto status = take(pack(weights, i, hidden,
                            {{WeightPart::kQuery, shape.query_width()},
                             {WeightPart::kKey, shape.kv_width()},
                             {WeightPart::kValue, shape.kv_width()}}),
                       layer.qkv);
    if (!status) return status;
    status =
        take(pack(weights, i, shape.query_width(), {{WeightPart::kAttentionOutput, hidden}}), layer.attention_output);
    if (!status) return status;
    status =
        take(pack(weights, i, hidden, {{WeightPart::kGate, config.ffn}, {WeightPart::kUp, config.ffn}}), layer.gate_up);
    if (!status) return status;
    status = take(pack(weights, i, config.ffn, {{WeightPart::kDown, hidden}}), layer.down);
    if (!status) return status;
  }
  if (auto status = take_norm(WeightPart::kFinalNorm, 0, final_norm); !status) return status;
  const bool tied = config.tied_embeddings;
  auto status =
      take(pack(weights, 0, hidden, {{tied ? WeightPart::kEmbedding : WeightPart::kHead, config.vocab}}), head);
  if (!status || tied) return status;
  return take(pack(weights, 0, hidden, {{WeightPart::kEmbedding, config.vocab}}), embedding);
}

void Transformer::State::make_room() {
  const int64_t rows = padded_rows(kPassRows);
  const auto room = [rows](int64_t stride) { return AlignedArray<float>(static_cast<size_t>(rows * stride)); };
  stream = room(hidden_stride);
  normed = room(hidden_stride);
  qkv = room(qkv_stride);
  attended = room(attention_stride);
  added = room(hidden_stride);
  gates = room(gate_stride);
  gated = room(ffn_stride);
  logits = AlignedArray<float>(static_cast<size_t>(logit_rows(options.slots) * logit_stride));
  const int64_t half = shape.head_dim / 2;
  cosines = AlignedArray<float>(static_cast<size_t>(options.context * half));
  sines = AlignedArray<float>(static_cast<size_t>(options.context * half));
  for (int64_t i = 0; i < half; ++i) {
    const double turn = std::pow(model.rope_theta, -2.0 * static_cast<double>(i) / static_cast<double>(shape.head_dim));
    for (int64_t position = 0; position < options.context; ++position) {
      const double angle = static_cast<double>(position) * turn;
      const auto at = static_cast<size_t>(position * half + i);
      cosines[at] = static_cast<float>(std::cos(angle));
      sines[at] = static_cast<float>(std::sin(angle));
    }
  }
  places.reserve(static_cast<size_t>(kPassRows));
  tokens.reserve(static_cast<size_t>(kPassRows));
}

void Transformer::State::norm(const AlignedArray<float>& weight, int64_t rows, const float* from, float* to) {
  for_rows(rows, [&](int64_t row) {
    kernels.rms_norm(from + row * hidden_stride, weight.data(), model.config.hidden,
                     static_cast<float>(model.norm_epsilon), to + row * hidden_stride);
  });
}

void Transformer::State::turn_row(int64_t row) {
  const int64_t half = shape.head_dim / 2;
  const int64_t at = places[static_cast<size_t>(row)].position * half;
  float* const first = qkv.data() + row * qkv_stride;
  for (int64_t i = 0; i < shape.heads + shape.kv_heads; ++i) {
    kernels.rotate(first + i * shape.head_dim, cosines.data() + at, sines.data() + at, half);
  }
}

Status Transformer::State::layer_pass(int64_t index, int64_t rows, std::span<const QueryBlock> blocks) {
  const LayerWeights& layer = layers[static_cast<size_t>(index)];
  const LlmConfig& config = model.config;
  norm(layer.attention_norm, rows, stream.data(), normed.data());
  clock.mark(OperatorName::kAttentionNorm);
  auto status = products.multiply(layer.qkv, normed.data(), hidden_stride, rows, qkv.data(), qkv_stride);
  if (!status) return status;
  clock.mark(OperatorName::kQkvProjection);
  for_rows(rows, [&](int64_t row) { turn_row(row); });
  clock.mark(OperatorName::kRope);
  for_rows(rows, [&](int64_t row) {
    const float* const key = qkv.data() + row * qkv_stride + shape.query_width();
    cache.write(index, places[static_cast<size_t>(row)], key, key + shape.kv_width());
  });
  clock.mark(OperatorName::kCacheWrite);
  attention.attend(cache, index, blocks, qkv.data(), qkv_stride, attended.data(), attention_stride);
  clock.mark(OperatorName::kScores);
  status =
      products.multiply(layer.attention_output, attended.data(), attention_stride, rows, added.data(), hidden_stride);
  if (!status) return status;
  clock.mark(OperatorName::kAttentionOutput);
  const auto add_rows = [&] {
    for_rows(rows, [&](int64_t row) {
      kernels.add(stream.data() + row * hidden_stride, added.data() + row * hidden_stride, config.hidden);
    });
  };
  add_rows();
  clock.mark(OperatorName::kAttentionResidual);
  norm(layer.ffn_norm, rows, stream.data(), normed.data());
  clock.mark(OperatorName::kFfnNorm);
  status = products.multiply(layer.gate_up, normed.data(), hidden_stride, rows, gates.data(), gate_stride);
  if (!status) return status;
  clock.mark(OperatorName::kFfnGateUp);
  for_rows(rows, [&](int64_t row) {
    const float* const gate = gates.data() + row * gate_stride;
    kernels.gate(gate, gate + config.ffn, config.ffn, gated.data() + row * ffn_stride);
  });
  clock.mark(OperatorName::kFfnActivation);
  status = products.multiply(layer.down, gated.data(), ffn_stride, rows, added.data(), hidden_stride);
  if (!status) return status;
  clock.mark(OperatorName::kFfnDown);
  add_rows();
  clock.mark(OperatorName::kFfnResidual);
  return {};
}

// The tokens at their places through all layers; logits of the rows that are wanted, in their order.
Status Transformer::State::pass(std::span<const int64_t> wanted) {
  const auto rows = static_cast<int64_t>(tokens.size());
  const int64_t hidden = model.config.hidden;
  clock.begin();
  for_rows(rows, [&](int64_t row) {
    embedding_table().copy_row(tokens[static_cast<size_t>(row)],
                               {stream.data() + row * hidden_stride, static_cast<size_t>(hidden)});
  });
  clock.mark(OperatorName::kTokenEmbedding);
  const std::vector<QueryBlock> blocks = query_blocks(places, shape.group());
  for (int64_t layer = 0; layer < model.config.layers; ++layer) {
    if (auto status = layer_pass(layer, rows, blocks); !status) return status;
  }
  if (wanted.empty()) return {};
  for (size_t i = 0; i < wanted.size(); ++i) {
    kernels.rms_norm(stream.data() + wanted[i] * hidden_stride, final_norm.data(), hidden,
                     static_cast<float>(model.norm_epsilon), normed.data() + static_cast<int64_t>(i) * hidden_stride);
  }
  clock.mark(OperatorName::kFinalNorm);
  auto status = products.multiply(head, normed.data(), hidden_stride, static_cast<int64_t>(wanted.size()),
                                  logits.data(), logit_stride);
  if (!status) return status;
  clock.mark(OperatorName::kLanguageHead);
  return {};
}

Transformer::Transformer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Transformer::Transformer(Transformer&&) noexcept = default;
Transformer& Transformer::operator=(Transformer&&) noexcept = default;
Transformer::~Transformer() = default;

Result<Transformer> Transformer::create(const TransformerModel& model, const WeightSource& weights,
                                        const TransformerOptions& options) {
  if (auto status = check_transformer(model.config); !status) return status.error();
  if (auto status = check_options(model, options); !status) return status.error();
  TransformerOptions with = options;
  const int64_t positions = model.config.max_positions;
  if (with.context == 0) with.context = positions > 0 ? std::min(positions, kUsualContext) : kUsualContext;
  if (with.kernels == nullptr) with.kernels = transformer_kernels().front();
  if (auto status = check_memory(model, with); !status) return status.error();
  try {
    auto state = std::make_unique<State>(model, with);
    if (auto status = state->load(weights); !status) return status.error();
    state->make_room();
    return Transformer(std::move(state));
  } catch (const std::bad_alloc&) {
    return environment_error("out-of-memory", "there is no memory for " + printable(model.config.name),
                             model.config.source, "fewer slots, a shorter context, int8 weights or a smaller model");
  }
}

Result<Transformer> Transformer::random(const TransformerModel& model, uint64_t seed,
                                        const TransformerOptions& options) {
  return create(model, RandomWeights(model.config.layers, seed), options);
}

namespace {

Status check_prompts(std::span<const SlotTokens> prompts, std::span<const int64_t> lengths,
                     const TransformerModel& model, int64_t context) {
  std::vector<bool> taken(lengths.size(), false);
  for (const SlotTokens& prompt : prompts) {
    if (prompt.slot < 0 || static_cast<size_t>(prompt.slot) >= lengths.size() ||
        taken[static_cast<size_t>(prompt.slot)])
      return usage_error("bad-slot", "slot " + std::to_string(prompt.slot) + " isn't there, or stands twice", "",
                         "each of 0 to " + std::to_string(lengths.size() - 1) + " once");
    taken[static_cast<size_t>(prompt.slot)] = true;
    if (prompt.tokens.empty()) return usage_error("bad-token", "there is no token to append", "", "one at least");
    for (const int32_t token : prompt.tokens) {
      if (token < 0 || token >= model.config.vocab)
        return usage_error("bad-token", "token " + std::to_string(token) + " is none of the vocabulary", "",
                           "0 to " + std::to_string(model.config.vocab - 1));
    }
    const int64_t length = lengths[static_cast<size_t>(prompt.slot)] + static_cast<int64_t>(prompt.tokens.size());
    if (length > context)
      return usage_error("context-full",
                         "slot " + std::to_string(prompt.slot) + " would hold " + std::to_string(length) + " tokens",
                         "", "at most " + std::to_string(context));
  }
  return {};
}

}  // namespace

Status Transformer::prefill(std::span<const SlotTokens> prompts, std::span<float> logits) {
  State& state = *state_;
  const auto vocab = static_cast<size_t>(state.model.config.vocab);
  if (auto status = check_prompts(prompts, state.lengths, state.model, state.options.context); !status) return status;
  if (!logits.empty() && logits.size() != prompts.size() * vocab)
    return usage_error("bad-usage", "there is no room for the logits", "logits", "slots x vocabulary, or none");
  std::vector<int64_t> wanted;  // rows of the pass that end a prompt
  size_t given = 0;             // prompts whose logits were written
  const auto flush = [&]() -> Status {
    const std::span<const int64_t> ends = logits.empty() ? std::span<const int64_t>() : wanted;
    if (auto status = state.pass(ends); !status) return status;
    for (size_t i = 0; i < ends.size(); ++i) {
      std::copy_n(state.logits.data() + static_cast<int64_t>(i) * state.logit_stride, vocab,
                  logits.data() + (given + i) * vocab);
    }
    if (!ends.empty()) state.clock.mark(OperatorName::kLanguageHead);
    given += wanted.size();
    wanted.clear();
    state.places.clear();
    state.tokens.clear();
    return {};
  };
  state.places.clear();
  state.tokens.clear();
  for (const SlotTokens& prompt : prompts) {
    int64_t& length = state.lengths[static_cast<size_t>(prompt.slot)];
    for (size_t i = 0; i < prompt.tokens.size(); ++i) {
      state.places.push_back({prompt.slot, length++});
      state.tokens.push_back(prompt.tokens[i]);
      if (i + 1 == prompt.tokens.size()) wanted.push_back(static_cast<int64_t>(state.tokens.size()) - 1);
      if (static_cast<int64_t>(state.tokens.size()) < kPassRows) continue;
      if (auto status = flush(); !status) return status;
    }
  }
  return state.tokens.empty() ? Status() : flush();
}

Status Transformer::prepare(int64_t most_tokens) {
  State& state = *state_;
  const State::LayerWeights& layer = state.layers.front();  // all are alike
  const int64_t rows = std::min(most_tokens, kPassRows), ends = std::min(rows, state.options.slots);
  auto status = state.products.prepare(layer.qkv, state.hidden_stride, rows, state.qkv_stride);
  if (status) {
    status = state.products.prepare(layer.attention_output, state.attention_stride, rows, state.hidden_stride);
  }
  if (status) status = state.products.prepare(layer.gate_up, state.hidden_stride, rows, state.gate_stride);
  if (status) status = state.products.prepare(layer.down, state.ffn_stride, rows, state.hidden_stride);
  if (status) status = state.products.prepare(state.head, state.hidden_stride, ends, state.logit_stride);
  return status;
}

int64_t Transformer::length(int64_t slot) const { return state_->lengths[static_cast<size_t>(slot)]; }

void Transformer::shorten(int64_t slot, int64_t length) {
  int64_t& held = state_->lengths[static_cast<size_t>(slot)];
  held = std::min(held, std::max<int64_t>(0, length));
}

void Transformer::assume_length(int64_t slot, int64_t length) {
  state_->lengths[static_cast<size_t>(slot)] = std::clamp<int64_t>(length, 0, state_->options.context);
}

const TransformerModel& Transformer::model() const { return state_->model; }
const TransformerOptions& Transformer::options() const { return state_->options; }
OperatorClock& Transformer::clock() { return state_->clock; }

TransformerMemory Transformer::memory() const {
  const State& state = *state_;
  const auto floats = [](const AlignedArray<float>& array) {
    return static_cast<double>(array.size()) * sizeof(float);
  };
  TransformerMemory memory;
  memory.weights_bytes = state.head.bytes() + floats(state.final_norm);
  if (!state.model.config.tied_embeddings) memory.weights_bytes += state.embedding.bytes();
  for (const State::LayerWeights& layer : state.layers) {
    memory.weights_bytes += layer.qkv.bytes() + layer.attention_output.bytes() + layer.gate_up.bytes() +
                            layer.down.bytes() + floats(layer.attention_norm) + floats(layer.ffn_norm);
  }
  memory.cache_bytes = state.cache.bytes();
  memory.scratch_bytes = state.products.scratch_bytes() + state.attention.scratch_bytes();
  for (const auto* array : {&state.stream, &state.normed, &state.qkv, &state.attended, &state.added, &state.gates,
                            &state.gated, &state.logits, &state.cosines, &state.sines}) {
    memory.scratch_bytes += floats(*array);
  }
  return memory;
}

}  // namespace perfcast::ai
