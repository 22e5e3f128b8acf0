// How fast traces are made, written and read: a million jobs like those of KTH-SP2.
#include <benchmark/benchmark.h>

#include "fleet/traces/job_table.h"
#include "fleet/traces/swf_reader.h"
#include "fleet/traces/swf_synthetic.h"

namespace perfcast::fleet {
namespace {

Result<Workload> million() {
  SwfSyntheticOptions options;
  options.jobs = 1000000;
  return synthetic_swf(options);
}

template <typename Work>
void run(benchmark::State& state, Work work) {
  for (auto _ : state) {
    if (!work()) return state.SkipWithError("failed");
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * 1000000);
}

void generate(benchmark::State& state) {
  run(state, [] { return million().ok(); });
}
BENCHMARK(generate)->Unit(benchmark::kMillisecond);

void read_swf_text(benchmark::State& state) {
  const auto text = swf_text(*million(), kSyntheticProcessors);
  run(state, [&] { return parse_swf(*text, "million.swf").ok(); });
}
BENCHMARK(read_swf_text)->Unit(benchmark::kMillisecond);

void read_csv_text(benchmark::State& state) {
  const std::string text = job_table_text(*million());
  run(state, [&] { return parse_job_table(text, "million.csv").ok(); });
}
BENCHMARK(read_csv_text)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace perfcast::fleet
