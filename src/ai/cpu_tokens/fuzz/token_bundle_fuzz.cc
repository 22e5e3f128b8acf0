// Any bytes: no crash; a bundle that is read is written and read again as the same text, and its forecasts are
// numbers above 0.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ai/cpu_tokens/token_bundle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto bundle = parse_token_bundle({reinterpret_cast<const char*>(data), size}, "input");
  if (!bundle) return 0;
  const std::string text = token_bundle_text(*bundle);
  const auto back = parse_token_bundle(text, "again");
  if (!back || token_bundle_text(*back) != text) std::abort();
  const LlmWork& llm = benchmark_llms()[0].work;
  for (const CpuRecord& record : bundle->cpus.records()) {
    const auto cpu = bundle->cpus.find(record.facts.name, 3);
    if (!cpu) continue;
    for (const TokenPhase phase : kTokenPhases) {
      const auto forecast = bundle->forecast(*cpu, llm, phase, 100);
      if (forecast && std::isnan(forecast->tokens_per_s)) std::abort();
    }
  }
  return 0;
}
