#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "learn/neural/dense_network.h"
#include "studies/weightless/contenders.h"

namespace perfcast::program::weightless_study {
namespace {

class MlpFitted : public FittedContender {
 public:
  MlpFitted(DenseNetwork network, bool classes, double mean, double scale)
      : network_(std::move(network)), classes_(classes), mean_(mean), scale_(scale) {}
  double answer(std::span<const float> row) const override {
    const RowMatrixF inputs = Eigen::Map<const RowMatrixF>(row.data(), 1, static_cast<Eigen::Index>(row.size()));
    const auto out = network_.forward(inputs);
    if (!out) return NAN;
    if (!classes_) return mean_ + scale_ * static_cast<double>((*out)(0, 0));
    Eigen::Index best = 0;
    out->row(0).maxCoeff(&best);
    return static_cast<double>(best);
  }
  size_t bytes() const override {
    size_t numbers = 0;
    for (const DenseLayer& layer : network_.layers())
      numbers += static_cast<size_t>(layer.weights.size() + layer.bias.size());
    return numbers * sizeof(float);
  }

 private:
  DenseNetwork network_;
  bool classes_;
  double mean_, scale_;
};

Result<std::unique_ptr<FittedContender>> fit_mlp(const TabularSet& training, size_t hidden, size_t epochs,
                                                 uint64_t seed) {
  const bool classes = !training.labels.empty();
  const auto inputs = static_cast<int64_t>(training.inputs),
             outputs = classes ? static_cast<int64_t>(training.classes) : int64_t{1};
  DenseNetwork network({inputs, static_cast<int64_t>(hidden), outputs}, seed);
  double mean = 0, scale = 1;
  if (!classes) {
    for (const float target : training.targets)
      mean += static_cast<double>(target) / static_cast<double>(training.count());
    double square = 0;
    for (const float target : training.targets) square += std::pow(static_cast<double>(target) - mean, 2);
    scale = std::sqrt(square / static_cast<double>(training.count()));
  }
  constexpr size_t kBatch = 32;
  constexpr float kRate = 3e-3f;
  Adam adam({.learning_rate = kRate, .weight_decay = 1e-3f});
  std::vector<size_t> order(training.count());
  std::iota(order.begin(), order.end(), size_t{0});
  Random random(seed);
  DenseTrace trace;
  std::vector<DenseLayer> gradients;
  for (size_t epoch = 0; epoch < epochs; ++epoch) {
    adam.set_learning_rate(kRate * (1 - static_cast<float>(epoch) / static_cast<float>(epochs)));
    random.shuffle(order);
    for (size_t from = 0; from < order.size(); from += kBatch) {
      const size_t size = std::min(kBatch, order.size() - from);
      trace.inputs().resize(static_cast<Eigen::Index>(size), inputs);
      for (size_t b = 0; b < size; ++b) {
        for (int64_t i = 0; i < inputs; ++i)
          trace.inputs()(static_cast<Eigen::Index>(b), i) =
              training.rows[order[from + b] * training.inputs + static_cast<size_t>(i)];
      }
      if (const Status done = network.forward(trace); !done) return done.error();
      const RowMatrixF& out = trace.output();
      RowMatrixF gradient = out;
      for (size_t b = 0; b < size; ++b) {
        const auto row = static_cast<Eigen::Index>(b);
        if (classes) {
          const float most = out.row(row).maxCoeff();
          gradient.row(row) = (out.row(row).array() - most).exp();
          gradient.row(row) /= gradient.row(row).sum();
          gradient(row, static_cast<Eigen::Index>(training.labels[order[from + b]])) -= 1;
        } else {
          gradient(row, 0) -=
              static_cast<float>((static_cast<double>(training.targets[order[from + b]]) - mean) / scale);
        }
      }
      trace.output_gradient = gradient / static_cast<float>(size);
      if (const Status done = network.backward(trace, gradients, false); !done) return done.error();
      adam.step(network, gradients);
    }
  }
  return std::unique_ptr<FittedContender>(std::make_unique<MlpFitted>(std::move(network), classes, mean, scale));
}

}  // namespace

Contender mlp_contender(const TabularSet& set, size_t most_bytes) {
  const size_t outputs = set.labels.empty() ? 1 : set.classes;
  const size_t hidden = std::max<size_t>(1, (most_bytes / sizeof(float) - outputs) / (set.inputs + 1 + outputs));
  Contender made{"mlp, as small", {}, 0};
  for (const size_t epochs : {30, 100}) {
    made.settings.push_back({fmt::format("{} hidden, {} epochs", hidden, epochs),
                             [hidden, epochs](const TabularSet& training, uint64_t seed) {
                               return fit_mlp(training, hidden, epochs, seed);
                             }});
  }
  return made;
}

}  // namespace perfcast::program::weightless_study
