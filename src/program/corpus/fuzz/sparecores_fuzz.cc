// Any two tables: no crash; what is imported is a corpus that the store accepts and gives back whole. The input is the
// server table, a line "====", the table of rates and, behind another such line, scores.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

#include "program/corpus/importers/sparecores_importer.h"
#include "program/corpus/store/store.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::program;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kBorder = "\n====\n";
  const size_t border = input.find(kBorder);
  if (border == std::string_view::npos) return 0;
  SparecoresText text;
  text.servers_csv = input.substr(0, border);
  const std::string_view tables = input.substr(border + kBorder.size());
  const size_t second = tables.find(kBorder);
  text.benchmarks_csv = tables.substr(0, second);
  if (second != std::string_view::npos) text.scores_csv = tables.substr(second + kBorder.size());
  const auto result = import_sparecores(text, ProgramCatalogue());
  if (!result) return 0;
  std::set<std::string> names;
  for (const Platform& platform : result->corpus.platforms) {
    if (!names.insert(platform.name).second) std::abort();
  }
  auto store = CorpusStore::open(":memory:");
  if (!store || !(*store)->replace_sources(result->corpus)) std::abort();
  const auto back = (*store)->load();
  if (!back || back->runs.size() != result->corpus.runs.size() ||
      back->machine_runs.size() != result->corpus.machine_runs.size() ||
      back->servers.size() != result->corpus.servers.size() ||
      back->platforms.size() != result->corpus.platforms.size()) {
    std::abort();
  }
  return 0;
}
