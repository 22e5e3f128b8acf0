#include "profile/collect/native/profile_energy.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "base/statistics.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr std::array<std::pair<EnergyScope, const char*>, 6> kEnergyEvents = {
    {{EnergyScope::kPackage, "energy_package"},
     {EnergyScope::kCores, "energy_cores"},
     {EnergyScope::kMemory, "energy_memory"},
     {EnergyScope::kPlatform, "energy_platform"},
     {EnergyScope::kGpu, "energy_gpu"},
     {EnergyScope::kServer, "energy_server"}}};

struct ScopeJoules {
  std::optional<double> joules;
  std::string why_missing;  // of the first meter without
};

// All meters of the scope that are of the kind of the first: two packages add up, two views of one don't.
ScopeJoules joules_of(const EnergyReport& run, EnergyScope scope) {
  ScopeJoules found;
  std::string kind;
  for (const MeterEnergy& energy : run.meters) {
    if (energy.meter.scope != scope || (!kind.empty() && energy.meter.kind != kind)) continue;
    kind = energy.meter.kind;
    if (!energy.joules) return {std::nullopt, fmt::format("{}: {}", energy.meter.name, energy.why_missing)};
    found.joules = found.joules.value_or(0) + *energy.joules;
  }
  return found;
}

}  // namespace

std::string ProfileEnergy::why_none() const {
  std::vector<std::string> reasons;
  reasons.reserve(set_.missing.size());
  for (const MissingMeter& missing : set_.missing)
    reasons.push_back(fmt::format("{}: {}", missing.kind, missing.reason));
  return join(reasons, "; ");
}

void record_energy(const std::vector<EnergyReport>& runs, const std::string& why_none,
                   const std::function<void(const char* event, double joules)>& put,
                   const std::function<void(const char* event, const std::string& reason)>& lack) {
  for (const auto& [scope, event] : kEnergyEvents) {
    std::vector<double> joules;
    std::string why;
    for (const EnergyReport& run : runs) {
      const ScopeJoules found = joules_of(run, scope);
      if (found.joules) joules.push_back(*found.joules);
      if (why.empty()) why = found.why_missing;
    }
    if (!joules.empty()) {
      put(event, median(joules));
    } else {
      lack(event, !why.empty()       ? why
                  : why_none.empty() ? std::string("no meter here is of that")
                                     : "no meter here is of that; " + why_none);
    }
  }
}

}  // namespace perfcast
