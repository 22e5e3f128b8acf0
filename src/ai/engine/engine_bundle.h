#pragma once
// Everything that forecasts engines, in one JSON file, "perfcast.engines/1": card, profiles, profiles on CPU servers,
// levels of hosts.

#include <string>
#include <string_view>
#include <vector>

#include "ai/engine/cpu_engine_profile.h"
#include "ai/engine/engine_profile.h"
#include "ai/engine/host_level.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

inline constexpr const char* kDefaultEngine = "vllm";

struct EngineCard {
  std::string purpose, data, licence, attribution, limits;
  std::vector<std::string> scores;  // one line each: split, figure
  // Mean error on devices left out; not a number: not stated.
  double token_error_ratio = kUnknown, first_error_ratio = kUnknown;
  // Likewise the median error on CPU models left out.
  double cpu_token_error_ratio = kUnknown, cpu_first_error_ratio = kUnknown;
};

struct EngineBundle {
  EngineCard card;
  std::vector<EngineProfile> engines;
  std::vector<CpuEngineProfile> cpu_engines;
  HostLevels hosts;

  std::vector<std::string> names() const;
  // "unknown-engine" lists all.
  Result<const EngineProfile*> find(std::string_view name) const;
  // The engine on CPU servers; "unknown-engine" where nobody measured it there.
  Result<const CpuEngineProfile*> find_on_cpus(std::string_view name) const;
};

// The same bundle gives the same text; parsing it and writing it again too.
std::string engine_bundle_text(const EngineBundle& bundle);
// "bad-json", "bad-json-field", "bad-bundle", "future-version".
Result<EngineBundle> parse_engine_bundle(std::string_view text, const std::string& source);
Result<EngineBundle> read_engine_bundle(const std::string& path);

}  // namespace perfcast::ai
