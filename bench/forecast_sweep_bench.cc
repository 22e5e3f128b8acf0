// Configurations per second of a sweep on one core. A configuration is a whole forecast: prefill, a token, intervals,
// memory. `grid`: 24 batches x 32 sequences x 4 degrees, again and again, so that most operators are remembered.
// `distinct`: no two configurations share a batch or a length, so that hardly any is.
#include <benchmark/benchmark.h>

#include "ai/engine/engine_bundle.h"
#include "ai/latency/kernels/kernel_bundle_file.h"
#include "ai/latency/model/half_precision_file.h"
#include "ai/llm/model_catalogue.h"
#include "ai/llm_forecast/forecast_sweep.h"
#include "ai/llm_forecast/learned_devices.h"
#include "ai/llm_forecast/roofline_model.h"
#include "base/file.h"

namespace perfcast::ai {
namespace {

LearnedDevices devices_here() {
  const std::string data = PERFCAST_SOURCE_DIR "/data/";
  LearnedBundles bundles;
  bundles.gpu = *parse_gpu_bundle(*read_file(data + "bundles/gpu-latency.json"), "gpu-latency.json");
  bundles.half = *read_half_precision(data + "bundles/half-precision.json");
  bundles.kernels = std::make_shared<const KernelBundle>(*read_kernel_bundle(data + "bundles/kernels.json"));
  return {*read_device_catalogue(data + "devices/devices.json"), std::move(bundles)};
}

// The shipped engine, on a host that isn't known; none for an empty name.
DeviceTerms terms_with(const std::string& engine) {
  DeviceTerms terms;
  if (engine.empty()) return terms;
  const auto bundle = read_engine_bundle(PERFCAST_SOURCE_DIR "/data/bundles/engines.json");
  terms.engine.profile = std::make_shared<const EngineProfile>(**bundle->find(engine));
  return terms;
}

// An empty `device`: the roofline of an A100's data sheet.
std::vector<LlmForecaster> forecaster(const char* model, const std::string& device, const std::string& engine) {
  static const LearnedDevices learned = devices_here();
  auto times = learned.find(device.empty() ? "a100" : device);
  if (device.empty()) times = RooflineModel::create((*times)->device());
  std::vector<LlmForecaster> devices;
  devices.push_back(*LlmForecaster::create(*built_in_model(model), *times, terms_with(engine)));
  return devices;
}

LlmRequest request_in(Precision precision) {
  LlmRequest request;
  request.weights = request.activations = request.kv = precision;
  return request;
}

void grid(benchmark::State& state, const char* model, const char* device, Precision precision,
          const char* engine = "") {
  auto devices = forecaster(model, device, engine);
  SweepGrid sweep;
  sweep.request = request_in(precision);
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

void distinct(benchmark::State& state, const char* model, const char* device, Precision precision,
              const char* engine = "") {
  auto devices = forecaster(model, device, engine);
  LlmRequest request = request_in(precision);
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

BENCHMARK_CAPTURE(grid, llama3_8b_roofline, "llama3-8b", "", Precision::kFp16);
BENCHMARK_CAPTURE(grid, llama3_8b_h100_fp16, "llama3-8b", "h100", Precision::kFp16);
BENCHMARK_CAPTURE(grid, llama3_8b_v100_fp32, "llama3-8b", "v100", Precision::kFp32);
BENCHMARK_CAPTURE(grid, deepseek_v3_h100_fp16, "deepseek-v3", "h100", Precision::kFp16);
BENCHMARK_CAPTURE(grid, llama3_8b_h100_vllm, "llama3-8b", "h100", Precision::kFp16, "vllm");
BENCHMARK_CAPTURE(grid, deepseek_v3_h100_vllm, "deepseek-v3", "h100", Precision::kFp16, "vllm");
BENCHMARK_CAPTURE(distinct, llama3_8b_roofline, "llama3-8b", "", Precision::kFp16);
BENCHMARK_CAPTURE(distinct, llama3_8b_h100_fp16, "llama3-8b", "h100", Precision::kFp16);
BENCHMARK_CAPTURE(distinct, llama3_8b_v100_fp32, "llama3-8b", "v100", Precision::kFp32);
BENCHMARK_CAPTURE(distinct, deepseek_v3_h100_fp16, "deepseek-v3", "h100", Precision::kFp16);
BENCHMARK_CAPTURE(distinct, llama3_8b_h100_vllm, "llama3-8b", "h100", Precision::kFp16, "vllm");

}  // namespace
}  // namespace perfcast::ai
