// Reading the whole public set, writing it to a new file and loading it again.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "program/corpus/importers/sparecores_importer.h"
#include "program/corpus/store/store.h"

namespace perfcast::program {
namespace {

std::string data_folder() { return std::string(PERFCAST_SHARED_DATA) + "/sparecores"; }

void read_sparecores(benchmark::State& state) {
  for (auto _ : state) {
    auto result = import_sparecores_folder(data_folder(), ProgramCatalogue());
    if (!result) return state.SkipWithError(result.error().message.c_str());
    benchmark::DoNotOptimize(result->corpus.runs.data());
    state.counters["runs"] = static_cast<double>(result->corpus.runs.size());
  }
}
BENCHMARK(read_sparecores)->Unit(benchmark::kMillisecond);

void store_round_trip(benchmark::State& state, bool writing) {
  const auto result = import_sparecores_folder(data_folder(), ProgramCatalogue());
  if (!result) return state.SkipWithError(result.error().message.c_str());
  std::string folder = (std::filesystem::temp_directory_path() / "perfcast-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return state.SkipWithError("no temporary folder");
  int64_t files = 0;
  for (auto _ : state) {
    if (writing || files == 0) {
      if (!writing) state.PauseTiming();
      auto store = CorpusStore::open(folder + "/" + std::to_string(files++) + ".db");
      if (!store || !(*store)->merge(result->corpus)) return state.SkipWithError("the corpus can't be written");
      if (!writing) state.ResumeTiming();
    }
    if (writing) continue;
    auto store = CorpusStore::open_read_only(folder + "/0.db");
    const auto corpus = (*store)->load();
    benchmark::DoNotOptimize(corpus->runs.data());
  }
  std::filesystem::remove_all(folder);
}
BENCHMARK_CAPTURE(store_round_trip, merge, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(store_round_trip, load, false)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace perfcast::program
