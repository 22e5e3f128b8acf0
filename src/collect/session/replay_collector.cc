#include "collect/session/replay_collector.h"

namespace perfcast {

Result<ReplayCollector> ReplayCollector::open(const std::string& path) {
  auto profile = read_profile(path);
  if (!profile) return profile.error();
  return ReplayCollector(std::move(*profile));
}

CollectResult ReplayCollector::collect(const CollectRequest&) {
  Collection result;
  result.counters = profile_.metrics;
  result.missing = profile_.missing;
  result.warnings = profile_.warnings;
  result.exit_code = profile_.exit_code;
  result.signal = profile_.signal;
  result.instruction_set = profile_.instruction_set;
  result.record = {name(), "", std::nullopt, "ok", "stored profile of " + profile_.started_utc};
  return result;
}

}  // namespace perfcast
