// Jobs per CPU second on a trace like that of the KTH SP2, and the memory of a million jobs. Goals: 500,000 jobs/s with
// EASY backfilling, 10^6 jobs within 1 GiB.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdint>

#include "fleet/simulate/simulator.h"
#include "fleet/traces/swf_synthetic.h"

namespace perfcast::fleet {
namespace {

void simulate_trace(benchmark::State& state, Policy policy, int64_t jobs) {
  SwfSyntheticOptions trace;
  trace.jobs = jobs;
  auto workload = synthetic_swf(trace);
  if (!workload) return state.SkipWithError("no trace");
  workload->forecast_s = workload->time_s;
  for (double& seconds : workload->forecast_s) seconds = seconds > 0 ? seconds : 1;
  NodeGroup group;
  group.platform = trace.platform;
  group.nodes = kSyntheticProcessors;
  const Cluster cluster{{group}, ""};
  for (auto _ : state) {
    auto outcome = simulate(cluster, *workload, policy, {});
    if (!outcome) return state.SkipWithError("not simulated");
    benchmark::DoNotOptimize(outcome->jobs.data());
  }
  state.SetItemsProcessed(state.iterations() * jobs);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_mib"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

constexpr int64_t kTrace = 28476;
BENCHMARK_CAPTURE(simulate_trace, kth_fcfs, Policy::kFcfs, kTrace)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_trace, kth_easy, Policy::kEasy, kTrace)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_trace, kth_easy_forecast, Policy::kEasyForecast, kTrace)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_trace, kth_sjf, Policy::kShortestFirst, kTrace)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_trace, kth_mct, Policy::kMinimumCompletion, kTrace)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_trace, million_easy, Policy::kEasy, 1000000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace perfcast::fleet
