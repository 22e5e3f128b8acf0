// Any bytes: no crash; a bundle that is read is written and read again as the same text, and its forecasts are numbers
// above 0.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ai/engine/engine_bundle.h"
#include "ai/engine/testing/test_engine.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto bundle = parse_engine_bundle({reinterpret_cast<const char*>(data), size}, "input");
  if (!bundle) return 0;
  const std::string text = engine_bundle_text(*bundle);
  const auto back = parse_engine_bundle(text, "again");
  if (!back || engine_bundle_text(*back) != text) std::abort();
  for (const EngineProfile& engine : bundle->engines) {
    const auto forecast = forecast_engine(engine, engine_test::work(), engine_test::device(), engine_test::host());
    if (!forecast || !(forecast->token.seconds > 0) || !(forecast->first.seconds > 0)) std::abort();
    if (!std::isfinite(forecast->client_token_s) || !(forecast->token_log_half_width >= 0)) std::abort();
  }
  for (const CpuEngineProfile& engine : bundle->cpu_engines) {
    CpuEngineRequest request;
    request.prompt_tokens = 900;
    request.sorts = true;
    const auto forecast = forecast_cpu_engine(engine, engine_test::cpu(), engine_test::cpu_work(), request);
    if (!forecast || !(forecast->times.further_s() > 0) || !std::isfinite(forecast->client_token_s)) std::abort();
    if (!(forecast->widths.first_token >= 0)) std::abort();
  }
  for (const HostLevel& level : bundle->hosts.levels()) {
    const auto host = bundle->hosts.find(level.name);
    if (host && !(host->level > 0)) std::abort();
  }
  return 0;
}
