// How fast forecasts are, one thread: a single one by the dense network, batches by the linear family and by trees. A
// forecast is all platforms of one profile, counters read from the profile included.

#include <benchmark/benchmark.h>

#include "program/model/attribution/feature_attribution.h"
#include "program/model/bundle/train_bundle.h"
#include "program/model/forecast/forecaster.h"
#include "program/model/predictor.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

constexpr int64_t kPlatforms = 100;

const TrainingTable& table() {
  static const TrainingTable made =
      testing_world::additive_world({.programs = 66, .platforms = kPlatforms, .families = 32, .noise_log = 0.05}).table;
  return made;
}

const Predictor& fitted(const std::string& family) {
  static std::map<std::string, std::unique_ptr<Predictor>> made;
  auto& predictor = made[family];
  if (!predictor) {
    predictor = std::move(*make_predictor(family));
    if (!predictor->fit(table(), {}).ok()) std::abort();
  }
  return *predictor;
}

void single(benchmark::State& state, const std::string& family) {
  const Predictor& predictor = fitted(family);
  const std::vector<const Profile*> one = {&table().profiles[5]};
  for (auto _ : state) benchmark::DoNotOptimize(predictor.predict(one));
  state.SetItemsProcessed(state.iterations());
}

void batch(benchmark::State& state, const std::string& family) {
  const Predictor& predictor = fitted(family);
  std::vector<const Profile*> profiles;
  for (size_t i = 0; i < 10000; ++i) profiles.push_back(&table().profiles[i % table().profiles.size()]);
  for (auto _ : state) benchmark::DoNotOptimize(predictor.predict(profiles));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(profiles.size()));
}

void fit(benchmark::State& state, const std::string& family) {
  for (auto _ : state) {
    auto predictor = make_predictor(family);
    benchmark::DoNotOptimize((*predictor)->fit(table(), {}));
  }
}

// Forecast with interval and verdict, as the command prints it.
void whole_forecast(benchmark::State& state) {
  static const Forecaster forecaster = [] {
    auto bundle = train_bundle(table(), {.model = "stack"});
    if (!bundle) std::abort();
    return Forecaster(std::make_shared<const Bundle>(std::move(*bundle)));
  }();
  for (auto _ : state) benchmark::DoNotOptimize(forecaster.forecast(table().profiles[5], {}));
}

// What every input adds on every platform, against another program.
void attribution(benchmark::State& state, const std::string& family) {
  const Predictor& predictor = fitted(family);
  const AttributionRequest request{&table().profiles[5], &table().profiles[6]};
  for (auto _ : state) benchmark::DoNotOptimize(attribute_features(predictor, request));
}

BENCHMARK_CAPTURE(attribution, forest, "forest")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(attribution, boosted_trees, "gbt")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(attribution, stack, "stack")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(attribution, dense_network, "dnn")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(single, dense_network, "dnn")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(single, stack, "stack")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(batch, linear, "nncost")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(batch, boosted_trees, "gbt")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(batch, forest, "forest")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(batch, stack, "stack")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fit, linear, "nncost")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fit, forest, "forest")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fit, physics, "physics")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fit, boosted_trees, "gbt")->Unit(benchmark::kMillisecond);
BENCHMARK(whole_forecast)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace perfcast::program
