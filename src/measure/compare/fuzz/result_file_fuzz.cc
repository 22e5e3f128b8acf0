// Any bytes: no crash; all times of what is read are above 0 and names differ; a comparison with itself finds nothing;
// what lscpu might have printed either names a CPU or is none.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "machine/facts/cpu_text.h"
#include "measure/compare/sessions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::measure;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto host = cpu_facts_from_text(text); host && host->name.empty()) std::abort();
  const auto file = parse_result_file(text, "input");
  if (!file) return 0;
  std::set<std::string> names;
  for (const BenchmarkRuns& benchmark : file->benchmarks) {
    if (!names.insert(benchmark.name).second) std::abort();
    for (const double run_s : benchmark.wall.runs_s) {
      if (!(run_s > 0) || !std::isfinite(run_s)) std::abort();
    }
  }
  const auto compared = compare_sessions(*file, *file, {});
  if (compared && (compared->any(CompareVerdict::kSlower) || compared->any(CompareVerdict::kFaster))) std::abort();
  return 0;
}
