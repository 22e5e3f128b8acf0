#include "diagnose/find/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace perfcast {

std::string Evidence::preloaded(const std::string& library) const {
  const auto users = environment.find("LD_PRELOAD");
  return users == environment.end() || users->second.empty() ? library : library + ":" + users->second;
}

double Evidence::busy_ratio() const { return wall_s() > 0 ? std::min(1.0, seen.run.cpu_s() / wall_s()) : 0; }

double Evidence::user_ratio() const { return wall_s() > 0 ? std::min(1.0, seen.run.user_s / wall_s()) : 0; }

std::optional<double> Evidence::count(const std::string& metric) const {
  if (profile == nullptr) return std::nullopt;
  const auto found = profile->metrics.find(metric);
  return found == profile->metrics.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> Evidence::user_cycles() const {
  if (design == nullptr || !(design->clock_hz > 0) || !(seen.run.user_s > 0)) return std::nullopt;
  return seen.run.user_s * design->clock_hz;
}

std::string in_percent(double ratio) { return fmt::format("{:.0f}%", 100 * ratio); }

std::vector<Finding> find_causes(const Evidence& evidence) {
  std::vector<Finding> findings;
  find_in_runtime(evidence, findings);
  find_in_waiting(evidence, findings);
  find_in_code(evidence, findings);
  find_in_counts(evidence, findings);
  find_in_roofline(evidence, findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.gain_ratio > b.gain_ratio; });
  return findings;
}

}  // namespace perfcast
