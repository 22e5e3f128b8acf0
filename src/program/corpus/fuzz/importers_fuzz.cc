// Any bytes as any of the imported formats (the first byte says which): no crash; what is imported is a corpus that the
// store accepts and gives back whole. Parts of one input (tables, mapping) are divided by lines "====".
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "program/corpus/importers/aiwc_importer.h"
#include "program/corpus/importers/gpuperfpredict_importer.h"
#include "program/corpus/importers/likwid_importer.h"
#include "program/corpus/importers/nvidia_profiler_importers.h"
#include "program/corpus/importers/openbenchmarking_importer.h"
#include "program/corpus/importers/papi_importer.h"
#include "program/corpus/importers/perf_stat_importer.h"
#include "program/corpus/importers/table_importer.h"
#include "program/corpus/source_note.h"
#include "program/corpus/store/store.h"

namespace perfcast::program {
namespace {

std::vector<std::string> parts_of(std::string_view text, size_t count) {
  constexpr std::string_view kBorder = "\n====\n";
  std::vector<std::string> parts;
  while (parts.size() + 1 < count) {
    const size_t border = text.find(kBorder);
    parts.emplace_back(text.substr(0, border));
    text = border == std::string_view::npos ? std::string_view() : text.substr(border + kBorder.size());
  }
  parts.emplace_back(text);
  return parts;
}

Result<Import> as_import(Result<std::vector<StoredProfile>> profiles) {
  if (!profiles) return profiles.error();
  Import result;
  result.corpus.sources = {{"fuzz", "", "", "", ""}};
  for (StoredProfile& stored : *profiles) {
    bool is_new = true;
    for (const StoredProfile& other : result.corpus.profiles) {
      is_new = is_new && (other.program != stored.program || other.profile.host.name != stored.profile.host.name);
    }
    if (!is_new) continue;
    Program program;
    program.id = stored.program;
    program.source = stored.source = "fuzz";
    result.corpus.programs.push_back(program);
    result.corpus.profiles.push_back(std::move(stored));
  }
  return result;
}

Result<Import> import(char format, std::string_view text) {
  switch (format) {
    case 'g': {
      GpuperfpredictText set;
      set.csv = text;
      return import_gpuperfpredict(set);
    }
    case 'a': {
      const auto parts = parts_of(text, 4);
      return import_aiwc({parts[0], parts[1], parts[2], "aiwc", parse_source_note(parts[3])});
    }
    case 'o': {
      const auto parts = parts_of(text, 4);
      return import_openbenchmarking({parts[0], parts[1], parts[2], "openbenchmarking", parse_source_note(parts[3])},
                                     ProgramCatalogue());
    }
    case 't': {
      const auto parts = parts_of(text, 2);
      const auto mapping = parse_table_mapping(parts[0], "map.json");
      if (!mapping) return mapping.error();
      return import_table(*mapping, parts[1], "x.csv");
    }
    case 'p':
      return as_import(read_perf_stat(text, "x"));
    case 'l':
      return as_import(read_likwid(text, "x"));
    case 'j':
      return as_import(read_papi(text, "x"));
    case 'n':
      return as_import(read_ncu(text, "x"));
    default:
      return as_import(read_nvprof(text, "x"));
  }
}

}  // namespace
}  // namespace perfcast::program

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::program;
  if (size < 2) return 0;
  const auto result = import(static_cast<char>(data[0]), {reinterpret_cast<const char*>(data) + 1, size - 1});
  if (!result) return 0;
  auto store = CorpusStore::open(":memory:");
  if (!store || !(*store)->replace_sources(result->corpus)) std::abort();
  const auto back = (*store)->load();
  if (!back || back->runs.size() != result->corpus.runs.size() ||
      back->platforms.size() != result->corpus.platforms.size() ||
      back->profiles.size() != result->corpus.profiles.size()) {
    std::abort();
  }
  return 0;
}
