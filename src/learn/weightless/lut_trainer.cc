#include "learn/weightless/lut_trainer.h"

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "base/random.h"
#include "learn/weightless/extended_difference.h"

namespace perfcast {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr size_t kMostLuts = size_t{1} << 20;
// Of the scores of a learnt mapping, each with two moments: 3 GiB.
constexpr size_t kMostScores = size_t{1} << 28;
constexpr size_t kChunk = 32;  // tables that one task takes: enough for a product of matrices
constexpr float kFirstMoment = 0.9f, kSecondMoment = 0.999f, kLeastDeviation = 1e-8f;

Error bad_config(const std::string& what, const std::string& expected) {
  return Error{"bad-config", what, "", expected};
}

// Adam (Kingma & Ba 2015) of one array.
class Adam {
 public:
  void resize(size_t count) {
    first_.assign(count, 0);
    second_.assign(count, 0);
  }
  // Entries [begin, begin + count) of `values`. `rate` has the corrections of the step in it.
  void step(float* values, const float* gradients, size_t begin, size_t count, float rate, float second_share) {
    float* const m = first_.data() + begin;
    float* const v = second_.data() + begin;
    for (size_t i = 0; i < count; ++i) {
      const float g = gradients[i];
      m[i] = kFirstMoment * m[i] + (1 - kFirstMoment) * g;
      v[i] = kSecondMoment * v[i] + (1 - kSecondMoment) * g * g;
      values[i] -= rate * m[i] / (std::sqrt(v[i] * second_share) + kLeastDeviation);
    }
  }

 private:
  std::vector<float> first_, second_;
};

// A layer that learns. Bits are input-major: [bits x rows of the batch].
struct LearningLayer {
  size_t inputs = 0, arity = 0, luts = 0, entries = 0;
  std::vector<uint32_t> mapping;  // [luts x arity]
  std::vector<float> tables;      // [luts x entries], -1 to 1
  Matrix scores;                  // [luts * arity x inputs] of a learnt mapping
  Adam table_steps, score_steps;

  // Of the batch at hand.
  std::vector<uint8_t> addresses;  // [luts x batch]
  std::vector<uint8_t> bits;       // [luts x batch]
  Matrix outputs;                  // [luts x batch] gradients by the bits
  Matrix reads;                    // [luts * arity x batch] gradients by what the tables read
};

struct Step {
  float rate = 0, second_share = 1;
};

class Learner {
 public:
  Learner(const LutRows& rows, size_t outputs, const LutTrainingOptions& options)
      : rows_(rows), outputs_(outputs), options_(options), random_(options.seed) {}
  virtual ~Learner() = default;

  Result<LutNetwork> run();

 protected:
  // Gradients by the last layer's bits, [luts x batch], of the batch's rows; the loss is returned.
  virtual double head_gradients(const std::vector<size_t>& batch, const LearningLayer& last, Matrix& gradients,
                                const Step& step) = 0;
  virtual LutHead head(const LearningLayer& last) const = 0;
  virtual void prepare(size_t) {}

  float weight_of(size_t row) const { return rows_.weights.empty() ? 1.0f : rows_.weights[row] * weight_scale_; }

  const LutRows& rows_;
  const size_t outputs_;
  const LutTrainingOptions& options_;
  Random random_;

 private:
  Status check() const;
  Status set_up();
  void make_layer(size_t inputs, size_t luts, bool learnt);
  void choose_bits(LearningLayer& layer, size_t first, size_t last) const;
  void look_up(LearningLayer& layer, const std::vector<uint8_t>& bits, size_t first, size_t last, size_t batch) const;
  void look_back(LearningLayer& layer, size_t first, size_t last, size_t batch, const Step& step, bool is_first);
  void add_decay(const LearningLayer& layer, size_t lut, float* gradients) const;
  Status over_chunks(const LearningLayer& layer, const std::function<void(size_t, size_t)>& work) const;
  Result<double> learn_from(const std::vector<size_t>& batch);

  Thermometer encoder_;
  std::vector<uint8_t> bits_;  // [bits x rows]
  std::vector<LearningLayer> layers_;
  std::vector<uint8_t> batch_bits_;  // [bits x batch]
  Matrix batch_signs_;               // [batch x bits], -1 and 1: what scores learn from
  float weight_scale_ = 1;
  float rate_ = 0;
  size_t steps_ = 0;
};

Status Learner::check() const {
  if (Status fit = check_lut_rows(rows_); !fit) return fit;
  return check_lut_options(options_);
}

void Learner::make_layer(size_t inputs, size_t luts, bool learnt) {
  LearningLayer& layer = layers_.emplace_back();
  layer.inputs = inputs;
  layer.arity = options_.arity;
  layer.luts = luts;
  layer.entries = size_t{1} << layer.arity;
  layer.tables.resize(luts * layer.entries);
  for (float& entry : layer.tables) entry = static_cast<float>(random_.uniform(-1, 1));
  layer.table_steps.resize(layer.tables.size());
  layer.mapping.resize(luts * layer.arity);
  if (learnt) {
    layer.scores.resize(static_cast<Eigen::Index>(layer.mapping.size()), static_cast<Eigen::Index>(inputs));
    for (Eigen::Index i = 0; i < layer.scores.size(); ++i)
      layer.scores.data()[i] = static_cast<float>(random_.uniform());
    layer.score_steps.resize(static_cast<size_t>(layer.scores.size()));
    return;
  }
  // Permutations one after the other: each bit is read as often as any other, as far as the numbers allow.
  std::vector<uint32_t> order(inputs);
  std::iota(order.begin(), order.end(), 0U);
  for (size_t i = 0; i < layer.mapping.size(); ++i) {
    if (i % inputs == 0) random_.shuffle(order);
    layer.mapping[i] = order[i % inputs];
  }
}

Status Learner::set_up() {
  auto encoder =
      Thermometer::fit(rows_.rows, rows_.inputs, options_.levels, options_.encoding, options_.short_thresholds);
  if (!encoder) return encoder.error();
  encoder_ = std::move(*encoder);
  if (encoder_.bits() < options_.arity) {
    return bad_config("tables that read " + std::to_string(options_.arity) + " bits, of an encoding that has " +
                          std::to_string(encoder_.bits()),
                      "smaller tables, or more thresholds");
  }
  const size_t count = rows_.count();
  bits_.resize(encoder_.bits() * count);
  std::vector<uint8_t> row(encoder_.bits());
  for (size_t r = 0; r < count; ++r) {
    encoder_.encode(rows_.rows.subspan(r * rows_.inputs, rows_.inputs), row);
    for (size_t bit = 0; bit < row.size(); ++bit) bits_[bit * count + r] = row[bit];
  }
  size_t inputs = encoder_.bits();
  for (size_t layer = 0; layer < options_.luts.size(); ++layer) {
    if (inputs < options_.arity)
      return bad_config("a layer of fewer tables than the next one's tables read", "more tables, or smaller ones");
    const size_t reads = options_.luts[layer] * options_.arity;
    const bool learnt = layer == 0 && options_.learn_mapping;
    if (learnt && reads > kMostScores / inputs) {
      return bad_config("a learnt mapping of " + std::to_string(reads) + " reads of " + std::to_string(inputs) +
                            " bits takes too much memory",
                        "fewer tables or thresholds, or a drawn mapping");
    }
    make_layer(inputs, options_.luts[layer], learnt);
    inputs = options_.luts[layer];
  }
  if (!rows_.weights.empty()) {
    const float sum = std::accumulate(rows_.weights.begin(), rows_.weights.end(), 0.0f);
    weight_scale_ = static_cast<float>(count) / sum;
  }
  return {};
}

void Learner::choose_bits(LearningLayer& layer, size_t first, size_t last) const {
  if (layer.scores.size() == 0) return;
  for (size_t read = first * layer.arity; read < last * layer.arity; ++read) {
    const float* const scores = layer.scores.data() + read * layer.inputs;
    layer.mapping[read] = static_cast<uint32_t>(std::max_element(scores, scores + layer.inputs) - scores);
  }
}

void Learner::look_up(LearningLayer& layer, const std::vector<uint8_t>& bits, size_t first, size_t last,
                      size_t batch) const {
  for (size_t j = first; j < last; ++j) {
    uint8_t* const address = layer.addresses.data() + j * batch;
    std::fill(address, address + batch, uint8_t{0});
    for (size_t l = 0; l < layer.arity; ++l) {
      const uint8_t* const read = bits.data() + size_t{layer.mapping[j * layer.arity + l]} * batch;
      for (size_t b = 0; b < batch; ++b) address[b] = static_cast<uint8_t>(address[b] | read[b] << l);
    }
    const float* const table = layer.tables.data() + j * layer.entries;
    uint8_t* const out = layer.bits.data() + j * batch;
    for (size_t b = 0; b < batch; ++b) out[b] = table[address[b]] > 0 ? 1 : 0;
  }
}

// Of the tables' entries; the loss has them once, whatever the batch.
void Learner::add_decay(const LearningLayer& layer, size_t lut, float* gradients) const {
  const float* const table = layer.tables.data() + lut * layer.entries;
  if (options_.table_decay > 0) {
    for (size_t k = 0; k < layer.entries; ++k) gradients[k] += 2 * static_cast<float>(options_.table_decay) * table[k];
  }
  if (options_.order_decay > 0) {
    // c = H t / entries; the gradient of sum |S| c_S^2 by t is 2 H (|S| c) / entries.
    std::array<float, size_t{1} << kMostLutInputs> values{};
    const std::span<float> coefficients(values.data(), layer.entries);
    std::copy_n(table, layer.entries, coefficients.begin());
    walsh_hadamard(coefficients);
    const float scale = 2 * static_cast<float>(options_.order_decay) /
                        (static_cast<float>(layer.entries) * static_cast<float>(layer.entries));
    for (size_t s = 0; s < layer.entries; ++s) coefficients[s] *= scale * static_cast<float>(std::popcount(s));
    walsh_hadamard(coefficients);
    for (size_t k = 0; k < layer.entries; ++k) gradients[k] += coefficients[k];
  }
}

void Learner::look_back(LearningLayer& layer, size_t first, size_t last, size_t batch, const Step& step,
                        bool is_first) {
  std::array<float, (size_t{1} << kMostLutInputs) * kMostLutInputs> differences{};
  std::array<float, size_t{1} << kMostLutInputs> gradients{};
  const bool learns_scores = layer.scores.size() > 0;
  for (size_t j = first; j < last; ++j) {
    float* const table = layer.tables.data() + j * layer.entries;
    const uint8_t* const address = layer.addresses.data() + j * batch;
    const float* const out = layer.outputs.data() + j * batch;
    if (!is_first || learns_scores) {
      extended_differences({table, layer.entries}, layer.arity, differences);
      for (size_t l = 0; l < layer.arity; ++l) {
        float* const read = layer.reads.data() + (j * layer.arity + l) * batch;
        const float* const of = differences.data() + l * layer.entries;
        for (size_t b = 0; b < batch; ++b) read[b] = out[b] * of[address[b]];
      }
    }
    std::fill_n(gradients.begin(), layer.entries, 0.0f);
    for (size_t b = 0; b < batch; ++b) gradients[address[b]] += out[b];
    add_decay(layer, j, gradients.data());
    layer.table_steps.step(table, gradients.data(), j * layer.entries, layer.entries, step.rate, step.second_share);
    for (size_t k = 0; k < layer.entries; ++k) table[k] = std::clamp(table[k], -1.0f, 1.0f);
  }
  if (!learns_scores) return;
  const auto row = static_cast<Eigen::Index>(first * layer.arity),
             rows = static_cast<Eigen::Index>((last - first) * layer.arity);
  const Matrix of = layer.reads.middleRows(row, rows) * batch_signs_;
  layer.score_steps.step(layer.scores.data() + static_cast<size_t>(row) * layer.inputs, of.data(),
                         static_cast<size_t>(row) * layer.inputs, static_cast<size_t>(of.size()), step.rate,
                         step.second_share);
}

Status Learner::over_chunks(const LearningLayer& layer, const std::function<void(size_t, size_t)>& work) const {
  return parallel_for((layer.luts + kChunk - 1) / kChunk, options_.threads, [&](size_t chunk) -> Status {
    work(chunk * kChunk, std::min(layer.luts, (chunk + 1) * kChunk));
    return {};
  });
}

Result<double> Learner::learn_from(const std::vector<size_t>& batch) {
  const size_t count = rows_.count(), size = batch.size();
  const bool learns_scores = layers_.front().scores.size() > 0;
  batch_bits_.resize(encoder_.bits() * size);
  if (learns_scores) batch_signs_.resize(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(encoder_.bits()));
  for (size_t bit = 0; bit < encoder_.bits(); ++bit) {
    const uint8_t* const from = bits_.data() + bit * count;
    for (size_t b = 0; b < size; ++b) {
      batch_bits_[bit * size + b] = from[batch[b]];
      if (learns_scores) batch_signs_.data()[b * encoder_.bits() + bit] = from[batch[b]] != 0 ? 1.0f : -1.0f;
    }
  }
  const std::vector<uint8_t>* bits = &batch_bits_;
  for (LearningLayer& layer : layers_) {
    layer.addresses.resize(layer.luts * size);
    layer.bits.resize(layer.luts * size);
    const Status looked = over_chunks(layer, [&](size_t first, size_t last) {
      choose_bits(layer, first, last);
      look_up(layer, *bits, first, last, size);
    });
    if (!looked) return looked.error();
    bits = &layer.bits;
  }
  ++steps_;
  Step step;
  step.rate = rate_ / (1 - std::pow(kFirstMoment, static_cast<float>(steps_)));
  step.second_share = 1 / (1 - std::pow(kSecondMoment, static_cast<float>(steps_)));
  LearningLayer& top = layers_.back();
  top.outputs.resize(static_cast<Eigen::Index>(top.luts), static_cast<Eigen::Index>(size));
  const double loss = head_gradients(batch, top, top.outputs, step);
  for (size_t i = layers_.size(); i-- > 0;) {
    LearningLayer& layer = layers_[i];
    layer.reads.resize(static_cast<Eigen::Index>(layer.luts * layer.arity), static_cast<Eigen::Index>(size));
    const Status looked =
        over_chunks(layer, [&](size_t first, size_t last) { look_back(layer, first, last, size, step, i == 0); });
    if (!looked) return looked.error();
    if (i == 0) break;
    Matrix& below = layers_[i - 1].outputs;
    below.setZero(static_cast<Eigen::Index>(layer.inputs), static_cast<Eigen::Index>(size));
    for (size_t read = 0; read < layer.mapping.size(); ++read)
      below.row(layer.mapping[read]) += layer.reads.row(static_cast<Eigen::Index>(read));
  }
  return loss;
}

Result<LutNetwork> Learner::run() {
  if (const Status valid = check(); !valid) return valid.error();
  if (const Status made = set_up(); !made) return made.error();
  prepare(layers_.back().luts);
  std::vector<size_t> order(rows_.count());
  std::iota(order.begin(), order.end(), size_t{0});
  rate_ = static_cast<float>(options_.learning_rate);
  for (size_t epoch = 1; epoch <= options_.epochs; ++epoch) {
    random_.shuffle(order);
    double loss = 0;
    for (size_t from = 0; from < order.size(); from += options_.batch) {
      const size_t to = std::min(order.size(), from + options_.batch);
      const auto learnt = learn_from(
          {order.begin() + static_cast<std::ptrdiff_t>(from), order.begin() + static_cast<std::ptrdiff_t>(to)});
      if (!learnt) return learnt.error();
      loss += *learnt * static_cast<double>(to - from) / static_cast<double>(order.size());
    }
    if (options_.decay_epochs > 0 && epoch % options_.decay_epochs == 0) rate_ *= 0.1f;
    if (options_.progress)
      options_.progress("epoch " + std::to_string(epoch) + " of " + std::to_string(options_.epochs) + ", loss " +
                        std::to_string(loss));
  }
  std::vector<LutLayer> layers;
  for (LearningLayer& layer : layers_) {
    choose_bits(layer, 0, layer.luts);
    LutLayer& made = layers.emplace_back();
    made.inputs = layer.inputs;
    made.arity = layer.arity;
    made.mapping = layer.mapping;
    for (size_t j = 0; j < layer.luts; ++j) {
      uint64_t table = 0;
      for (size_t k = 0; k < layer.entries; ++k) table |= uint64_t{layer.tables[j * layer.entries + k] > 0} << k;
      made.tables.push_back(table);
    }
  }
  auto network = LutNetwork::create(encoder_, std::move(layers), head(layers_.back()));
  if (!network) return network.error();
  return network->pruned();
}

// Each class has equally many tables of the last layer, whose bits are its votes.
class Classifier : public Learner {
 public:
  Classifier(const LutRows& rows, std::span<const uint32_t> labels, size_t classes, const LutTrainingOptions& options)
      : Learner(rows, classes, options), labels_(labels) {}

 protected:
  void prepare(size_t luts) override {
    group_ = luts / outputs_;
    divisor_ = options_.softmax_divisor > 0 ? static_cast<float>(options_.softmax_divisor)
                                            : std::sqrt(static_cast<float>(group_));
  }
  double head_gradients(const std::vector<size_t>& batch, const LearningLayer& last, Matrix& gradients,
                        const Step&) override {
    const size_t size = batch.size();
    double loss = 0;
    std::vector<float> share(outputs_);
    for (size_t b = 0; b < size; ++b) {
      float most = 0;
      for (size_t c = 0; c < outputs_; ++c) {
        int votes = 0;
        for (size_t j = c * group_; j < (c + 1) * group_; ++j) votes += last.bits[j * size + b];
        share[c] = static_cast<float>(votes) / divisor_;
        most = std::max(most, share[c]);
      }
      float sum = 0;
      for (float& of : share) sum += of = std::exp(of - most);
      const float weight = weight_of(batch[b]) / static_cast<float>(size);
      for (size_t c = 0; c < outputs_; ++c) {
        const bool right = labels_[batch[b]] == c;
        const float p = share[c] / sum;
        if (right) loss -= static_cast<double>(weight * std::log(std::max(p, 1e-20f)));
        const float gradient = weight * (p - (right ? 1.0f : 0.0f)) / divisor_;
        for (size_t j = c * group_; j < (c + 1) * group_; ++j) gradients.data()[j * size + b] = gradient;
      }
    }
    return loss;
  }
  LutHead head(const LearningLayer& last) const override {
    LutHead head;
    head.outputs = outputs_;
    head.bias.assign(outputs_, 0);
    head.weights.assign(last.luts * outputs_, 0);
    for (size_t j = 0; j < last.luts; ++j) head.weights[j * outputs_ + j / group_] = 1;
    return head;
  }

 private:
  std::span<const uint32_t> labels_;
  size_t group_ = 0;
  float divisor_ = 1;
};

// Each table's bit adds a learnt number to each output.
class Regressor : public Learner {
 public:
  Regressor(const LutRows& rows, std::span<const float> targets, size_t outputs, const LutTrainingOptions& options)
      : Learner(rows, outputs, options), targets_(targets) {}

 protected:
  void prepare(size_t luts) override {
    const size_t count = rows_.count();
    mean_.assign(outputs_, 0);
    double square = 0, weights = 0;
    for (size_t r = 0; r < count; ++r) {
      weights += static_cast<double>(weight_of(r));
      for (size_t o = 0; o < outputs_; ++o) mean_[o] += weight_of(r) * targets_[r * outputs_ + o];
    }
    for (float& mean : mean_) mean /= static_cast<float>(weights);
    for (size_t r = 0; r < count; ++r) {
      for (size_t o = 0; o < outputs_; ++o) {
        const double apart = static_cast<double>(targets_[r * outputs_ + o] - mean_[o]);
        square += static_cast<double>(weight_of(r)) * apart * apart;
      }
    }
    // One scale for all outputs, which keeps those that vary more the more important ones.
    scale_ = static_cast<float>(std::sqrt(std::max(square / (weights * static_cast<double>(outputs_)), 1e-30)));
    const double deviation = 1 / std::sqrt(static_cast<double>(luts));
    weights_.resize(static_cast<Eigen::Index>(luts), static_cast<Eigen::Index>(outputs_));
    for (Eigen::Index i = 0; i < weights_.size(); ++i)
      weights_.data()[i] = static_cast<float>(deviation * random_.normal());
    bias_.assign(outputs_, 0);
    for (size_t o = 0; o < outputs_; ++o) bias_[o] = -0.5f * weights_.col(static_cast<Eigen::Index>(o)).sum();
    weight_steps_.resize(static_cast<size_t>(weights_.size()));
    bias_steps_.resize(outputs_);
  }
  double head_gradients(const std::vector<size_t>& batch, const LearningLayer& last, Matrix& gradients,
                        const Step& step) override {
    const auto size = static_cast<Eigen::Index>(batch.size());
    const Eigen::Map<const Eigen::Matrix<uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> bits(
        last.bits.data(), static_cast<Eigen::Index>(last.luts), size);
    const Matrix on = bits.cast<float>();
    Matrix errors = on.transpose() * weights_;  // [batch x outputs]
    double loss = 0;
    for (Eigen::Index b = 0; b < size; ++b) {
      const size_t row = batch[static_cast<size_t>(b)];
      for (size_t o = 0; o < outputs_; ++o) {
        float& error = errors(b, static_cast<Eigen::Index>(o));
        error += bias_[o] - (targets_[row * outputs_ + o] - mean_[o]) / scale_;
        const float weight = weight_of(row) / static_cast<float>(batch.size() * outputs_);
        loss += static_cast<double>(weight * error * error);
        error *= 2 * weight;
      }
    }
    gradients = weights_ * errors.transpose();
    const Matrix of_weights = on * errors;
    const Eigen::RowVectorXf of_bias = errors.colwise().sum();
    weight_steps_.step(weights_.data(), of_weights.data(), 0, static_cast<size_t>(weights_.size()), step.rate,
                       step.second_share);
    bias_steps_.step(bias_.data(), of_bias.data(), 0, outputs_, step.rate, step.second_share);
    return loss;
  }
  LutHead head(const LearningLayer& last) const override {
    constexpr float kMost = 32767;
    LutHead head;
    head.outputs = outputs_;
    const float largest = std::max(weights_.cwiseAbs().maxCoeff(), 1e-20f);
    head.scale = static_cast<double>(scale_) * static_cast<double>(largest) / static_cast<double>(kMost);
    for (size_t j = 0; j < last.luts * outputs_; ++j)
      head.weights.push_back(static_cast<int16_t>(std::lround(weights_.data()[j] / largest * kMost)));
    for (size_t o = 0; o < outputs_; ++o) {
      const double bias = static_cast<double>(bias_[o]) / static_cast<double>(largest) * static_cast<double>(kMost);
      head.bias.push_back(static_cast<int32_t>(std::lround(std::clamp(bias, -1e9, 1e9))));
      head.offset.push_back(static_cast<double>(mean_[o]));
    }
    return head;
  }

 private:
  std::span<const float> targets_;
  std::vector<float> mean_, bias_;
  float scale_ = 1;
  Matrix weights_;  // [luts x outputs], of targets in units of scale_
  Adam weight_steps_, bias_steps_;
};

}  // namespace

Status check_lut_options(const LutTrainingOptions& options) {
  const auto number = [](double value) {
    std::string text = std::to_string(value);
    return text.substr(0, text.find_last_not_of('0') + 1);
  };
  if (options.levels < 1 || options.levels > 4096)
    return bad_config(std::to_string(options.levels) + " levels", "1 to 4096");
  if (options.arity < 1 || options.arity > kMostLutInputs)
    return bad_config("a table that reads " + std::to_string(options.arity) + " bits (arity)", "1 to 6");
  if (options.luts.empty() || options.luts.size() > 8)
    return bad_config(std::to_string(options.luts.size()) + " layers (luts)", "1 to 8");
  for (const size_t luts : options.luts) {
    if (luts < 1 || luts > kMostLuts)
      return bad_config(std::to_string(luts) + " tables in a layer (luts)", "1 to 1048576");
  }
  if (options.batch < 1) return bad_config("a batch of no row", "1 and more");
  if (options.epochs < 1) return bad_config("no epochs", "1 and more");
  if (!(options.learning_rate > 0 && options.learning_rate <= 1))
    return bad_config("a learning_rate of " + number(options.learning_rate), "above 0, up to 1");
  for (const double value : {options.softmax_divisor, options.table_decay, options.order_decay}) {
    if (!(value >= 0 && std::isfinite(value)))
      return bad_config("a decay or divisor of " + number(value), "0 and more");
  }
  return {};
}

namespace {

// Before hours of training, not after.
Status check_head(const LutTrainingOptions& options, size_t outputs) {
  if (options.luts.empty() || outputs <= kMostLutWeights / std::max<size_t>(1, options.luts.back())) return {};
  return bad_config(std::to_string(options.luts.back()) + " tables in the last layer (luts) for " +
                        std::to_string(outputs) + " outputs",
                    "at most " + std::to_string(kMostLutWeights) + " weights in all");
}

}  // namespace

Result<LutNetwork> train_lut_classifier(const LutRows& rows, std::span<const uint32_t> labels, size_t classes,
                                        const LutTrainingOptions& options) {
  if (labels.size() != rows.count() || classes < 2 ||
      !std::all_of(labels.begin(), labels.end(), [&](uint32_t label) { return label < classes; }))
    return Error{"bad-input", "the classes don't fit the rows", "", "a class for each row, of two or more"};
  if (options.luts.empty() || options.luts.back() % classes != 0 || options.luts.back() == 0) {
    return bad_config("a last layer whose tables can't be shared out to " + std::to_string(classes) + " classes",
                      "a multiple of the classes");
  }
  if (Status held = check_head(options, classes); !held) return held.error();
  return Classifier(rows, labels, classes, options).run();
}

Result<LutNetwork> train_lut_regressor(const LutRows& rows, std::span<const float> targets, size_t outputs,
                                       const LutTrainingOptions& options) {
  if (Status fit = check_lut_targets(rows, targets, outputs); !fit) return fit.error();
  if (Status held = check_head(options, outputs); !held) return held.error();
  return Regressor(rows, targets, outputs, options).run();
}

}  // namespace perfcast
