// A million requests on a simulated service, on one core, and the memory they take. Goals: within 30 s, within 1 GiB.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdint>

#include "ai/engine/testing/test_engine.h"
#include "ai/serving/drawn_trace.h"
#include "ai/serving/engine_step_time.h"
#include "ai/serving/serve.h"
#include "ai/serving/serving_summary.h"

namespace perfcast::ai {
namespace {

constexpr int64_t kMillion = 1'000'000, kWithPrefixes = 100'000;

// `load`: of what one replica can do, roughly.
void serve_requests(benchmark::State& state, int64_t requests, int64_t replicas, double load, int64_t turns) {
  const EngineProfile profile = engine_test::profile();
  const EngineWork work = engine_test::work();
  const DeviceFacts device = engine_test::device();
  const EngineHost host;
  const EngineStepTime times(profile, work, device, host);
  const auto limits = default_limits(profile, work, device);
  if (!limits) return state.SkipWithError("no limits");
  TraceShape shape;
  shape.requests = requests;
  shape.log_spread = 0.8;
  shape.rate_per_s = load * static_cast<double>(replicas) / static_cast<double>(turns);
  shape.turns = turns;
  shape.think_s = 10;
  ServeOptions options;
  options.limits = *limits;
  options.replicas = replicas;
  options.router = turns > 1 ? Router::kPrefixAware : Router::kLeastLoaded;
  for (auto _ : state) {
    const ServingTrace trace = draw_trace(shape);
    const auto run = serve(trace, options, times);
    if (!run) return state.SkipWithError("not simulated");
    const ServingSummary summary = summarise(trace, options, *run, {});
    state.counters["steps"] = static_cast<double>(run->counts.steps);
    state.counters["running"] = summary.mean_running;
    state.counters["first_token_p95_s"] = summary.first_token.p95;
  }
  state.SetItemsProcessed(state.iterations() * requests);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_mib"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

BENCHMARK_CAPTURE(serve_requests, million_light, kMillion, 1, 5.0, 1)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(serve_requests, million_full, kMillion, 1, 25.0, 1)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(serve_requests, million_on_eight, kMillion, 8, 15.0, 1)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(serve_requests, turns_on_eight, kWithPrefixes, 8, 10.0, 4)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace perfcast::ai
