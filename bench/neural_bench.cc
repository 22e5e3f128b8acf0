// The 3 x 1024 network on one thread: an epoch of training on 10,000 rows of 64 inputs and 4 outputs in minibatches of
// 256, and the forecast of one row. tools/bench-neural-vs-torch sets them beside PyTorch's.

#include <benchmark/benchmark.h>

#include <numeric>

#include "base/random.h"
#include "learn/neural/dense_network.h"

namespace perfcast {
namespace {

constexpr Eigen::Index kRows = 10000, kInputs = 64, kOutputs = 4;
constexpr size_t kBatch = 256;

RowMatrixF random_matrix(Random& random, Eigen::Index rows, Eigen::Index cols) {
  return RowMatrixF::NullaryExpr(rows, cols, [&] { return static_cast<float>(random.normal()); });
}

void epoch_of_3x1024(benchmark::State& state) {
  use_threads(1);
  Random random(1);
  const RowMatrixF inputs = random_matrix(random, kRows, kInputs);
  const RowMatrixF targets = random_matrix(random, kRows, kOutputs);
  DenseNetwork network({kInputs, 1024, 1024, 1024, kOutputs}, 1);
  Adam adam({.learning_rate = 3e-4f});
  std::vector<Eigen::Index> order(static_cast<size_t>(kRows));
  std::iota(order.begin(), order.end(), 0);
  DenseTrace trace;
  std::vector<DenseLayer> gradients;
  for (auto _ : state) {
    random.shuffle(order);
    for (size_t from = 0; from < order.size(); from += kBatch) {
      const std::vector<Eigen::Index> rows(
          order.begin() + static_cast<std::ptrdiff_t>(from),
          order.begin() + static_cast<std::ptrdiff_t>(std::min(from + kBatch, order.size())));
      trace.inputs() = inputs(rows, Eigen::all);
      if (!network.forward(trace)) std::abort();
      const RowMatrixF batch_targets = targets(rows, Eigen::all);
      const RowMatrixF weights = RowMatrixF::Ones(batch_targets.rows(), kOutputs);
      benchmark::DoNotOptimize(weighted_squared_error(trace.output(), batch_targets, weights,
                                                      static_cast<double>(weights.size()), trace.output_gradient));
      if (!network.backward(trace, gradients, false)) std::abort();
      adam.step(network, gradients);
    }
  }
}

void row_of_3x1024(benchmark::State& state) {
  Random random(1);
  const PackedNetwork network(DenseNetwork({kInputs, 1024, 1024, 1024, kOutputs}, 1));
  const RowMatrixF row = random_matrix(random, 1, kInputs);
  std::vector<float> output(kOutputs);
  for (auto _ : state) {
    network.predict({row.data(), static_cast<size_t>(row.size())}, output);
    benchmark::DoNotOptimize(output.data());
  }
}

BENCHMARK(epoch_of_3x1024)->Unit(benchmark::kMillisecond);
BENCHMARK(row_of_3x1024)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace perfcast
