// Configurations per second of a sweep on one core: each turn builds a whole step anew with another batch and context.
#include <benchmark/benchmark.h>

#include "ai/llm/model_catalogue.h"
#include "ai/llm/operator_graph.h"

namespace perfcast::ai {
namespace {

void build(benchmark::State& state, const char* model, LlmPhase phase, bool with_totals) {
  const auto config = built_in_model(model);
  LlmWorkload workload;
  workload.phase = phase;
  OperatorGraph graph;
  int64_t turn = 0;
  if (!config || !build_operators(*config, workload, graph)) return state.SkipWithError("refused");
  while (state.KeepRunning()) {
    workload.batch = 1 + turn % 64;
    workload.sequence = 128 + turn % 896;
    workload.context = workload.sequence;
    ++turn;
    const Status status = build_operators(*config, workload, graph);
    benchmark::DoNotOptimize(status);
    if (with_totals) {
      auto totals = total_operators(*config, workload, graph);
      benchmark::DoNotOptimize(totals);
    }
    benchmark::DoNotOptimize(graph);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(build, llama3_8b_decode, "llama3-8b", LlmPhase::kDecode, false);
BENCHMARK_CAPTURE(build, llama3_8b_prefill, "llama3-8b", LlmPhase::kPrefill, false);
BENCHMARK_CAPTURE(build, deepseek_v3_decode, "deepseek-v3", LlmPhase::kDecode, false);
BENCHMARK_CAPTURE(build, gpt2_train, "gpt2", LlmPhase::kTrain, false);
BENCHMARK_CAPTURE(build, llama3_8b_decode_totals, "llama3-8b", LlmPhase::kDecode, true);
BENCHMARK_CAPTURE(build, deepseek_v3_decode_totals, "deepseek-v3", LlmPhase::kDecode, true);

}  // namespace
}  // namespace perfcast::ai
