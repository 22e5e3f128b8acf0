// Configurations per second of a sweep on one core. A configuration is a whole forecast: prefill, a token, intervals,
// memory. `grid`: 24 batches x 32 sequences x 4 degrees, again and again, so that most operators are remembered.
// `distinct`: no two configurations share a batch or a length, so that hardly any is.
#include <benchmark/benchmark.h>

#include "workload/llm/model_catalogue.h"
#include "workload/llm_forecast/forecast_sweep.h"
#include "workload/llm_forecast/roofline_model.h"

namespace perfcast {
namespace {

DeviceFacts gpu() {
  DeviceFacts facts;
  facts.name = "gpu";
  facts.memory_bytes = 80e9;
  facts.memory_bytes_per_s = 2e12;
  facts.l2_bytes = 40e6;
  facts.link_bytes_per_s = 300e9;
  facts.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 312e12;
  return facts;
}

std::vector<LlmForecaster> forecaster(const char* model) {
  std::vector<LlmForecaster> devices;
  devices.push_back(*LlmForecaster::create(*built_in_model(model), *RooflineModel::create(gpu())));
  return devices;
}

void grid(benchmark::State& state, const char* model) {
  auto devices = forecaster(model);
  SweepGrid sweep;
  sweep.tensor_parallels = {1, 2, 4, 8};
  sweep.batches.clear();
  sweep.sequences.clear();
  for (int64_t i = 1; i <= 24; ++i) sweep.batches.push_back(8 * i);
  for (int64_t i = 1; i <= 32; ++i) sweep.sequences.push_back(128 * i);
  size_t rows = 0;
  for (auto _ : state) {
    auto result = sweep_forecasts(devices, sweep);
    rows += result->rows.size();
    benchmark::DoNotOptimize(result);
  }
  state.SetItemsProcessed(static_cast<int64_t>(rows));
  state.counters["remembered"] = static_cast<double>(devices.front().remembered());
}

void distinct(benchmark::State& state, const char* model) {
  auto devices = forecaster(model);
  LlmRequest request;
  LlmForecast forecast;
  int64_t turn = 0;
  for (auto _ : state) {
    request.batch = 1 + turn;
    request.sequence = 100 + turn % 30000;
    ++turn;
    if (!devices.front().forecast(request, forecast)) {
      state.SkipWithError("refused");
      break;
    }
    benchmark::DoNotOptimize(forecast);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(grid, llama3_8b, "llama3-8b");
BENCHMARK_CAPTURE(grid, llama3_70b, "llama3-70b");
BENCHMARK_CAPTURE(grid, mixtral_8x7b, "mixtral-8x7b");
BENCHMARK_CAPTURE(grid, deepseek_v3, "deepseek-v3");
BENCHMARK_CAPTURE(distinct, llama3_8b, "llama3-8b");
BENCHMARK_CAPTURE(distinct, deepseek_v3, "deepseek-v3");

}  // namespace
}  // namespace perfcast
