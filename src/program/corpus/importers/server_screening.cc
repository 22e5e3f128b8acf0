#include "program/corpus/importers/server_screening.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::program {
namespace {

constexpr double kSlowestRatio = 0.85;
constexpr size_t kFewestServers = 3;   // below, there is no telling which of them is the odd one
constexpr size_t kFewestPrograms = 5;  // compared at least
constexpr double kOwnDistance = 0.10;  // root mean square of log rates: further from the own platform than this,
constexpr double kOtherNearer = 0.6;   // and another generation at less than this share of it
constexpr double kFewestShare = 0.8;   // of the fingerprint's programs must be measured
constexpr int kFingerprintRounds = 3;
constexpr double kNormalConsistency = 1.4826;  // standard deviation of a normal over its median absolute deviation
constexpr double kSteadyDeviation = 0.03;      // of log rates over a platform's servers

struct VendorRule {
  std::string_view vendor;
  std::vector<std::string_view> prefixes;
};

const std::vector<VendorRule>& vendor_rules() {
  static const std::vector<VendorRule> rules = {
      // T: CPU credits. T1, M1, M2, C1: cores shared out in compute units.
      {"aws", {"t1.", "t2.", "t3.", "t3a.", "t4g.", "m1.", "m2.", "c1."}},
      {"gcp", {"e2-", "f1-", "g1-"}},
      {"azure", {"Standard_B", "Basic_", "Standard_A"}},
      {"alicloud",
       {"ecs.t5-", "ecs.t6-", "ecs.e-", "ecs.e3.", "ecs.e4.", "ecs.n1.", "ecs.n2.", "ecs.n4.", "ecs.mn4.", "ecs.xn4.",
        "ecs.s6-", "ecs.ce4.", "ecs.cm4.", "ecs.u0"}},
      {"hcloud", {"cx", "cpx", "cax"}},
      {"vultr", {"vc2-", "vcg-", "vhf-", "vhp-"}},
      {"ovh", {"d2-", "s1-"}},
      {"upcloud", {"DEV-", "CLOUDNATIVE-", "1xCPU-"}},
  };
  return rules;
}

using ServersOfPlatform = std::map<size_t, std::vector<size_t>>;  // platform -> its servers that still stay

ServersOfPlatform staying(const std::vector<ScreenedServer>& servers, const std::vector<Screening>& screenings) {
  ServersOfPlatform groups;
  for (size_t i = 0; i < servers.size(); ++i) {
    if (screenings[i].reason.empty()) groups[servers[i].platform].push_back(i);
  }
  return groups;
}

std::vector<double> median_rates(const std::vector<ScreenedServer>& servers, const std::vector<size_t>& members) {
  std::vector<double> medians;
  for (size_t program = 0; program < servers[members[0]].log_rates.size(); ++program) {
    std::vector<double> values;
    for (const size_t member : members) {
      if (!std::isnan(servers[member].log_rates[program])) values.push_back(servers[member].log_rates[program]);
    }
    medians.push_back(values.empty() ? kUnknown : median(std::move(values)));
  }
  return medians;
}

// Median over the programs of the log ratio to the platform; NaN where too few are in common.
double typical_log_ratio(const std::vector<double>& log_rates, const std::vector<double>& medians) {
  std::vector<double> ratios;
  for (size_t i = 0; i < log_rates.size(); ++i) {
    const double ratio = log_rates[i] - medians[i];
    if (!std::isnan(ratio)) ratios.push_back(ratio);
  }
  return ratios.size() < kFewestPrograms ? kUnknown : median(std::move(ratios));
}

void drop_unmeasured(const std::vector<ScreenedServer>& servers, std::vector<Screening>& screenings) {
  for (size_t i = 0; i < servers.size(); ++i) {
    const auto& rates = servers[i].log_rates;
    if (std::all_of(rates.begin(), rates.end(), [](double rate) { return std::isnan(rate); })) {
      screenings[i].reason = kNotMeasured;
    }
  }
}

void drop_duplicates(const std::vector<ScreenedServer>& servers, std::vector<Screening>& screenings) {
  for (const auto& [platform, members] : staying(servers, screenings)) {
    std::map<std::vector<double>, size_t> seen;
    for (const size_t member : members) {
      std::vector<double> key = servers[member].log_rates;
      size_t measured = 0;
      for (double& rate : key) {
        if (std::isnan(rate)) {
          rate = std::numeric_limits<double>::infinity();  // NaN has no order
        } else {
          ++measured;
        }
      }
      if (measured < kFewestPrograms) continue;
      if (!seen.emplace(std::move(key), member).second) screenings[member].reason = kDuplicateServer;
    }
  }
}

void drop_shared(const std::vector<ScreenedServer>& servers, std::vector<Screening>& screenings) {
  for (const auto& [platform, members] : staying(servers, screenings)) {
    std::vector<size_t> shared;
    for (const size_t member : members) {
      if (shares_cores(servers[member].vendor, servers[member].name)) shared.push_back(member);
    }
    if (shared.size() == members.size()) continue;
    for (const size_t member : shared) screenings[member].reason = kSharedCores;
  }
}

// Of the `chosen` programs those that differ little between servers of one platform: pointer chasing or allocation tell
// the memory's and the kernel's mood, not the CPU.
std::vector<bool> steady_programs(const std::vector<ScreenedServer>& servers, const std::vector<Screening>& screenings,
                                  const std::vector<bool>& chosen) {
  std::vector<std::vector<double>> deviations(chosen.size());
  for (const auto& [platform, members] : staying(servers, screenings)) {
    if (members.size() < kFewestServers) continue;
    const std::vector<double> medians = median_rates(servers, members);
    for (const size_t member : members) {
      for (size_t i = 0; i < chosen.size(); ++i) {
        const double deviation = std::abs(servers[member].log_rates[i] - medians[i]);
        if (chosen[i] && !std::isnan(deviation)) deviations[i].push_back(deviation);
      }
    }
  }
  std::vector<bool> steady(chosen.size());
  for (size_t i = 0; i < chosen.size(); ++i) {
    steady[i] = !deviations[i].empty() && kNormalConsistency * median(std::move(deviations[i])) <= kSteadyDeviation;
  }
  return steady;
}

struct Fingerprint {
  std::vector<double> rates;  // of the fingerprint's programs
  bool usable = false;
};

Fingerprint fingerprint_of(const std::vector<double>& log_rates, const std::vector<bool>& chosen) {
  Fingerprint result;
  size_t measured = 0;
  for (size_t i = 0; i < log_rates.size(); ++i) {
    if (!chosen[i]) continue;
    result.rates.push_back(log_rates[i]);
    measured += std::isnan(log_rates[i]) ? 0 : 1;
  }
  result.usable = measured >= kFewestPrograms &&
                  static_cast<double>(measured) >= kFewestShare * static_cast<double>(result.rates.size());
  return result;
}

// Root mean square of the difference about its mean: clock and throttling shift all rates alike and cancel.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = a[i] - b[i];
    if (!std::isnan(difference)) differences.push_back(difference);
  }
  if (differences.size() < kFewestPrograms) return kUnknown;
  const double centre = mean(differences);
  double sum = 0;
  for (const double difference : differences) sum += (difference - centre) * (difference - centre);
  return std::sqrt(sum / static_cast<double>(differences.size()));
}

void drop_other_cpus(const std::vector<ScreenedServer>& servers, const std::vector<bool>& comparable,
                     std::vector<Screening>& screenings) {
  const std::vector<bool> chosen = steady_programs(servers, screenings, comparable);
  const std::vector<Screening> before = screenings;
  std::vector<Fingerprint> fingerprints;
  fingerprints.reserve(servers.size());
  for (const ScreenedServer& server : servers) fingerprints.push_back(fingerprint_of(server.log_rates, chosen));
  // Each round takes the platforms' patterns from the servers that the round before left.
  for (int round = 0; round < kFingerprintRounds; ++round) {
    std::map<size_t, std::vector<double>> pattern_of;
    std::map<size_t, std::string> generation_of;
    for (const auto& [platform, members] : staying(servers, screenings)) {
      std::vector<size_t> usable;
      for (const size_t member : members) {
        if (fingerprints[member].usable) usable.push_back(member);
      }
      if (usable.empty()) continue;
      pattern_of[platform] = fingerprint_of(median_rates(servers, usable), chosen).rates;
      generation_of[platform] = servers[usable[0]].generation;
    }
    std::vector<Screening> next = before;
    for (size_t i = 0; i < servers.size(); ++i) {
      const auto own_pattern = pattern_of.find(servers[i].platform);
      if (!next[i].reason.empty() || !fingerprints[i].usable || own_pattern == pattern_of.end()) continue;
      const double own = distance(fingerprints[i].rates, own_pattern->second);
      if (!(own > kOwnDistance)) continue;
      for (const auto& [platform, pattern] : pattern_of) {
        if (generation_of[platform] == servers[i].generation) continue;
        if (distance(fingerprints[i].rates, pattern) < kOtherNearer * own) next[i].reason = kOtherCpu;
      }
    }
    screenings = std::move(next);
  }
}

void drop_slow(const std::vector<ScreenedServer>& servers, std::vector<Screening>& screenings) {
  for (const auto& [platform, members] : staying(servers, screenings)) {
    const std::vector<double> medians = median_rates(servers, members);
    for (const size_t member : members) {
      const double log_ratio = typical_log_ratio(servers[member].log_rates, medians);
      screenings[member].rate_ratio = std::exp(log_ratio);
      if (members.size() >= kFewestServers && log_ratio < std::log(kSlowestRatio)) {
        screenings[member].reason = kSlowServer;
      }
    }
  }
}

}  // namespace

bool shares_cores(std::string_view vendor, std::string_view server) {
  for (const VendorRule& rule : vendor_rules()) {
    if (rule.vendor != vendor) continue;
    for (const std::string_view prefix : rule.prefixes) {
      if (!server.starts_with(prefix)) continue;
      // Standard_A2 was such a type, Standard_ACC... need not be.
      if (prefix == "Standard_A" &&
          (server.size() == prefix.size() || server[prefix.size()] < '0' || server[prefix.size()] > '9')) {
        continue;
      }
      return true;
    }
  }
  return false;
}

std::vector<Screening> screen_servers(const std::vector<ScreenedServer>& servers,
                                      const std::vector<bool>& fingerprint) {
  std::vector<Screening> screenings(servers.size(), Screening{"", kUnknown});
  drop_unmeasured(servers, screenings);
  drop_duplicates(servers, screenings);
  drop_other_cpus(servers, fingerprint, screenings);
  drop_shared(servers, screenings);
  drop_slow(servers, screenings);
  return screenings;
}

}  // namespace perfcast::program
