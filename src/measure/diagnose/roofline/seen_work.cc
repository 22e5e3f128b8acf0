#include "measure/diagnose/roofline/seen_work.h"

#include <algorithm>

#include "machine/facts/core_design.h"

namespace perfcast::measure {

SeenWork seen_work(const Profile& profile, const Observation& seen, const CoreDesign* design, double clock_hz) {
  if (!profile.partly_seen) return {SeenWork::Basis::kWhole, 1};
  const auto metric = [&](const std::string& name) {
    const auto found = profile.metrics.find(name);
    return found == profile.metrics.end() ? 0.0 : found->second;
  };
  // Counts of the profile were stretched to all of the work by a typical rate: what was counted is this part of them.
  const double instructions = profile.partly_seen->seen_ratio * metric("instructions_count");
  if (!(instructions > 0)) return {};
  if (const double all = metric("hw_instructions_count"); all > 0)
    return {SeenWork::Basis::kCounted, std::min(1.0, instructions / all)};
  if (design == nullptr || !(clock_hz > 0) || !(seen.run.user_s > 0)) return {};
  const double cycles = profile.partly_seen->seen_ratio * metric(core_cycles_metric(design->name));
  if (!(cycles > 0)) return {};
  return {SeenWork::Basis::kModelled, std::min(1.0, cycles / (seen.run.user_s * clock_hz))};
}

}  // namespace perfcast::measure
