// Our register blocks and their packing, in GFLOP/s; the machine's limit beside them: perfcast_gemm_bench.

#include <benchmark/benchmark.h>

#include "ai/gemm/run/gemm_task.h"
#include "machine/ceiling/aligned_array.h"
#include "machine/ceiling/cpu_isa.h"
#include "machine/ceiling/packing.h"
#include "machine/ceiling/peak_loops.h"
#include "machine/ceiling/register_block.h"

namespace perfcast::ai::gemm {
namespace {

benchmark::Counter per_second(double work) {
  return {work, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000};
}

void bench_register_block(benchmark::State& state) {
  const RegisterBlock& block = register_blocks()[static_cast<size_t>(state.range(0))];
  const int64_t n = state.range(1);
  if (!cpu_has(block.isa)) return state.SkipWithError("this CPU can't run it");
  const auto size = static_cast<size_t>(n * n);
  AlignedArray<float> a(size), b(size), c(size);
  fill_operands(1, a, b);
  PackedBlocks packed;
  while (state.KeepRunning()) block_product(block, n, n, n, a.data(), n, b.data(), n, c.data(), n, packed);
  state.SetLabel(block.title);
  state.counters["FLOP/s"] = per_second(2.0 * static_cast<double>(n * n * n));
}

// One panel pair from the first-level cache: what the inner loop alone reaches.
void bench_inner_loop(benchmark::State& state) {
  const RegisterBlock& block = register_blocks()[static_cast<size_t>(state.range(0))];
  if (!cpu_has(block.isa)) return state.SkipWithError("this CPU can't run it");
  constexpr int64_t kDepth = 256;
  AlignedArray<float> a(static_cast<size_t>(block.rows * kDepth)), b(static_cast<size_t>(block.columns * kDepth)),
      c(static_cast<size_t>(block.rows * block.columns));
  fill_operands(1, a, b);
  while (state.KeepRunning()) {
    block.product(kDepth, a.data(), b.data(), c.data(), block.columns, false);
    benchmark::ClobberMemory();
  }
  state.SetLabel(block.title);
  state.counters["FLOP/s"] = per_second(2.0 * static_cast<double>(block.rows * block.columns * kDepth));
}

void bench_packing(benchmark::State& state) {
  constexpr int64_t kSide = 1024, kDepth = 256;
  AlignedArray<float> from(kSide * kSide), to(kSide * kDepth);
  const bool rows = state.range(0) == 0;
  while (state.KeepRunning()) {
    if (rows) {
      pack_rows(from.data(), kSide, kSide, kDepth, 12, to.data());
    } else {
      pack_columns(from.data(), kSide, kDepth, kSide, 32, to.data());
    }
    benchmark::ClobberMemory();
  }
  state.SetLabel(rows ? "A, panels of 12" : "B, panels of 32");
  state.counters["elements/s"] = per_second(static_cast<double>(kSide * kDepth));
}

void bench_peak(benchmark::State& state) {
  const auto at = static_cast<size_t>(state.range(0));
  if (at >= peak_loops().size() || !peak_loops()[at].isa.starts_with("avx")) return state.SkipWithError("none");
  while (state.KeepRunning()) benchmark::DoNotOptimize(peak_loops()[at].run(10000));
  state.SetLabel(peak_loops()[at].isa);
  state.counters["FLOP/s"] = per_second(peak_loops()[at].operations * 10000);
}

BENCHMARK(bench_peak)->Arg(0)->Arg(1);
BENCHMARK(bench_packing)->Arg(0)->Arg(1);
#if defined(__x86_64__)
BENCHMARK(bench_inner_loop)->Arg(0)->Arg(1);
BENCHMARK(bench_register_block)->ArgsProduct({{0, 1}, {64, 256, 1024, 2048}})->Unit(benchmark::kMillisecond);
#endif

}  // namespace
}  // namespace perfcast::ai::gemm
