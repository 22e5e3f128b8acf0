// One product on a device: what a sweep over configurations pays for each operator.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "ai/latency/model/device_catalogue.h"
#include "ai/latency/model/half_precision_file.h"

namespace perfcast::ai {
namespace {

template <typename T>
T or_exit(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s\n", to_text(result.error()).c_str());
  std::exit(1);
}

HalfPrecisionModel h100() {
  const auto catalogue = or_exit(read_device_catalogue(PERFCAST_SOURCE_DIR "/data/devices/devices.json"));
  const auto bundle = or_exit(read_half_precision(PERFCAST_SOURCE_DIR "/data/bundles/half-precision.json"));
  return or_exit(HalfPrecisionModel::for_device(*or_exit(find_device(catalogue, "h100")), bundle));
}

void product(benchmark::State& state) {
  const HalfPrecisionModel model = h100();
  constexpr std::array kTokens = {1.0, 7.0, 64.0, 300.0, 512.0, 1000.0, 2048.0, 4000.0};
  size_t i = 0;
  for ([[maybe_unused]] auto _ : state) {
    const ProductShape shape = {1, kTokens[i++ % kTokens.size()], 8192, 10240, true};
    benchmark::DoNotOptimize(model.product(shape, MathMode::kHalf, 2 * shape.k * shape.n));
  }
}
BENCHMARK(product);

void vector(benchmark::State& state) {
  const HalfPrecisionModel model = h100();
  double rows = 1;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(model.vector({VectorKind::kNorm, rows, 8192}, 2));
    rows = rows < 4096 ? rows + 1 : 1;
  }
}
BENCHMARK(vector);

}  // namespace
}  // namespace perfcast::ai
