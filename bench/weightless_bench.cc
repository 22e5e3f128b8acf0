// Forecasts of a weightless network of eight classes, one row and many, on each path; the extended finite difference
// beside its sum. Inputs, tables and rows are drawn.
#include <benchmark/benchmark.h>

#include "learn/weightless/extended_difference.h"
#include "learn/weightless/packed_network.h"
#include "learn/weightless/test_networks.h"

namespace perfcast {
namespace {

constexpr size_t kClasses = 8, kRows = 8192;
constexpr size_t kReads = 6, kEntries = 64;  // of a table

size_t inputs_of(const benchmark::State& state) { return static_cast<size_t>(state.range(1)); }

PackedLutNetwork network_of(const benchmark::State& state, PackedPath path) {
  Random random(1);
  return PackedLutNetwork(
      random_network(inputs_of(state), {static_cast<size_t>(state.range(0))}, 6, kClasses, TestHead::kVotes, random)
          .pruned(),
      path);
}

void bench_one_row(benchmark::State& state, PackedPath path) {
  const PackedLutNetwork network = network_of(state, path);
  Random random(2);
  const auto rows = random_rows(kRows, network.inputs(), random);
  size_t row = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(network.best(rows.data() + row * network.inputs()));
    row = (row + 1) % kRows;
  }
  state.SetItemsProcessed(state.iterations());
}

void bench_rows(benchmark::State& state, PackedPath path) {
  const PackedLutNetwork network = network_of(state, path);
  Random random(2);
  const auto rows = random_rows(kRows, network.inputs(), random);
  std::vector<uint8_t> best(kRows);
  for (auto _ : state) {
    network.best(rows.data(), kRows, best.data());
    benchmark::DoNotOptimize(best.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kRows));
}

// A table's gradients for a batch of 256 rows.
void bench_differences(benchmark::State& state, bool by_sum) {
  Random random(3);
  std::vector<float> table(64), differences(kReads * kEntries);
  for (float& entry : table) entry = static_cast<float>(random.uniform(-1, 1));
  std::vector<uint8_t> addresses(256);
  for (uint8_t& address : addresses) address = static_cast<uint8_t>(random.below(64));
  // The weights of the sum are known beforehand, as they would be to anybody.
  std::vector<float> weights(kEntries * kReads * kEntries);
  for (size_t address = 0; address < 64; ++address) {
    for (size_t k = 0; k < 64; ++k) {
      std::vector<float> unit(64), of(6);
      unit[k] = 1;
      extended_differences_by_sum(unit, 6, address, of);
      for (size_t l = 0; l < 6; ++l) weights[(address * kReads + l) * kEntries + k] = of[l];
    }
  }
  for (auto _ : state) {
    float total = 0;
    if (!by_sum) extended_differences(table, 6, differences);
    for (const uint8_t address : addresses) {
      for (size_t l = 0; l < 6; ++l) {
        if (!by_sum) {
          total += differences[l * kEntries + address];
          continue;
        }
        const float* const of = weights.data() + (size_t{address} * kReads + l) * kEntries;
        float sum = 0;
        for (size_t k = 0; k < 64; ++k) sum += of[k] * table[k];
        total += sum;
      }
    }
    benchmark::DoNotOptimize(total);
  }
  state.SetItemsProcessed(state.iterations() * 256);
}

const bool kRegistered = [] {
  for (const PackedPath path : packed_paths()) {
    const std::string name(to_text(path));
    for (const int64_t luts : {64, 128, 512}) {
      // As few inputs as a register or two hold, and as many as applications' metrics.
      for (const int64_t inputs : {32, 151}) {
        const auto args = {luts, inputs};
        benchmark::RegisterBenchmark(("one_row/" + name).c_str(), bench_one_row, path)
            ->Args(args)
            ->ArgNames({"tables", "inputs"});
        benchmark::RegisterBenchmark(("rows/" + name).c_str(), bench_rows, path)
            ->Args(args)
            ->ArgNames({"tables", "inputs"});
      }
    }
  }
  benchmark::RegisterBenchmark("differences/butterflies", bench_differences, false);
  benchmark::RegisterBenchmark("differences/sum", bench_differences, true);
  return true;
}();

}  // namespace
}  // namespace perfcast

BENCHMARK_MAIN();
