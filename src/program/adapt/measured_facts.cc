#include "program/adapt/measured_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/statistics.h"
#include "base/text.h"
#include "machine/facts/core_design.h"

namespace perfcast::program {
namespace {

constexpr double kBeyondAll = 2, kBeyondKin = 3;

std::vector<double> values_of(const std::vector<Platform>& platforms, const std::string& fact,
                              const std::string& design = "") {
  std::vector<double> values;
  for (const Platform& platform : platforms) {
    const auto found = platform.facts.find(fact);
    if (found == platform.facts.end() || !(found->second > 0)) continue;
    if (design.empty() || core_design(platform) == design) values.push_back(found->second);
  }
  return values;
}

// The bandwidth of memory is the host's, however many of its CPUs were rented.
bool is_of_own_caches(const std::string& fact) { return fact.find("mb_") == std::string::npos; }

bool is_plausible(double value, const std::vector<double>& all, const std::vector<double>& kin, bool own) {
  if (!(value > 0)) return false;
  if (!all.empty()) {
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    if (value * kBeyondAll <= *least || value >= kBeyondAll * *most) return false;
  }
  if (!own || kin.empty()) return true;
  const double usual = median(kin);
  return value * kBeyondKin > usual && value < kBeyondKin * usual;
}

}  // namespace

void take_memory_facts(const std::vector<Platform>& known, MemoryFacts& measured, Platform& platform,
                       std::vector<std::string>& notes) {
  const std::string design = core_design(platform);
  const bool has_kin = !design.empty() && design != "unknown";
  std::vector<std::string> implausible;
  for (const auto& [fact, value] : measured.facts) {
    const std::vector<double> kin = has_kin ? values_of(known, fact, design) : std::vector<double>();
    if (is_plausible(value, values_of(known, fact), kin, is_of_own_caches(fact))) {
      platform.facts[fact] = value;
    } else {
      implausible.push_back(fact);
    }
  }
  for (const std::string& fact : implausible) {
    measured.facts.erase(fact);
    measured.left_out.push_back(fact);
  }
  if (!implausible.empty()) {
    notes.push_back(
        fmt::format("{} fact{} of caches and memory {} far from what any such machine does, as where others "
                    "use it: left out ({})",
                    implausible.size(), implausible.size() == 1 ? "" : "s", implausible.size() == 1 ? "is" : "are",
                    join(implausible, ", ")));
  }
  size_t taken = 0;
  for (const std::string& fact : measured.left_out) {
    std::vector<double> kin = has_kin ? values_of(known, fact, design) : std::vector<double>();
    if (kin.empty()) continue;
    platform.facts[fact] = median(std::move(kin));
    ++taken;
  }
  if (taken > 0) {
    notes.push_back(
        fmt::format("{} of the facts that were left out {} taken from the bundle's platforms of the same core "
                    "design, {}",
                    taken, taken == 1 ? "is" : "are", design));
  }
}

}  // namespace perfcast::program
