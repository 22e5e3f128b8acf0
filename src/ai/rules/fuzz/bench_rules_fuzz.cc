// Any bytes as rules of benchmarks: no crash, and what is read can be asked for each scenario.
#include <cstddef>
#include <cstdint>

#include "ai/rules/bench_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto rules = parse_bench_rules({reinterpret_cast<const char*>(data), size}, "input");
  if (!rules) return 0;
  for (const InferenceRule& rule : rules->inference) {
    for (const LoadScenario scenario :
         {LoadScenario::kSingleStream, LoadScenario::kMultiStream, LoadScenario::kServer, LoadScenario::kOffline}) {
      for (const CategoryRule& category : rules->categories) {
        (void)load_rules_for(*rules, {rule.name, category.name, BenchDivision::kClosed, true}, scenario);
      }
    }
  }
  return 0;
}
