#include "program/corpus/importers/provider_split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/statistics.h"
#include "base/unknown.h"

namespace perfcast::program {
namespace {

using Servers = std::vector<const ScreenedServer*>;
using Rates = std::vector<double>;  // of the programs, logarithms; NaN: none

bool is_measured(const ScreenedServer& server) {
  const auto measured =
      std::count_if(server.log_rates.begin(), server.log_rates.end(), [](double rate) { return !std::isnan(rate); });
  return measured >= static_cast<std::ptrdiff_t>(kFewestProgramsCompared);
}

Rates medians_of(const Servers& servers) {
  Rates medians;
  for (size_t program = 0; program < servers[0]->log_rates.size(); ++program) {
    std::vector<double> rates;
    for (const ScreenedServer* server : servers) rates.push_back(server->log_rates[program]);
    medians.push_back(median_of_known(rates));
  }
  return medians;
}

// Median over the programs of the absolute difference; NaN where too few are in common.
double median_distance(const Rates& a, const Rates& b) {
  std::vector<double> differences;
  for (size_t i = 0; i < a.size(); ++i) {
    if (const double difference = std::abs(a[i] - b[i]); !std::isnan(difference)) differences.push_back(difference);
  }
  return differences.size() < kFewestProgramsCompared ? kUnknown : median(std::move(differences));
}

// A provider's servers of one CPU in one part.
struct Offer {
  Rates medians;
  double spread = 0;  // typical distance of a server from the medians
};

std::optional<Offer> offer_of(const Servers& servers) {
  if (servers.size() < kFewestServersCompared) return std::nullopt;
  Offer offer{medians_of(servers), 0};
  std::vector<double> distances;
  for (const ScreenedServer* server : servers) distances.push_back(median_distance(server->log_rates, offer.medians));
  offer.spread = median(std::move(distances));
  return offer;
}

struct Comparison {
  double apart, own;
  bool differs() const { return apart >= kApart && apart >= kOverSpread * own; }
};

// A provider's share of one CPU.
struct ProviderShare {
  std::string provider;
  size_t servers = 0;
  std::vector<std::optional<Offer>> offers;  // by part
};

std::optional<Comparison> compare(const ProviderShare& a, const ProviderShare& b) {
  for (size_t part = 0; part < a.offers.size(); ++part) {
    if (!a.offers[part] || !b.offers[part]) continue;
    const double apart = median_distance(a.offers[part]->medians, b.offers[part]->medians);
    if (!std::isnan(apart)) return Comparison{apart, std::max(a.offers[part]->spread, b.offers[part]->spread)};
  }
  return std::nullopt;
}

// Those with most servers first.
std::vector<ProviderShare> shares_of(const std::vector<std::vector<ScreenedServer>>& parts,
                                     const std::vector<size_t>& members) {
  std::map<std::string, ProviderShare> shares;
  for (const size_t member : members) {
    ProviderShare& share = shares[parts[0][member].vendor];
    share.provider = parts[0][member].vendor;
    ++share.servers;
  }
  for (auto& [provider, share] : shares) {
    for (const std::vector<ScreenedServer>& part : parts) {
      Servers servers;
      for (const size_t member : members) {
        const ScreenedServer& server = part[member];
        if (server.vendor == provider && is_measured(server) && !shares_cores(server.vendor, server.name))
          servers.push_back(&server);
      }
      share.offers.push_back(offer_of(servers));
    }
  }
  std::vector<ProviderShare> sorted;
  sorted.reserve(shares.size());
  for (auto& [provider, share] : shares) sorted.push_back(std::move(share));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const ProviderShare& a, const ProviderShare& b) { return a.servers > b.servers; });
  return sorted;
}

ProviderSplit split_of(const std::vector<ProviderShare>& shares) {
  ProviderSplit split;
  std::vector<const ProviderShare*> leaders;
  for (const ProviderShare& share : shares) {
    std::optional<size_t> nearest;
    double least = 0;
    size_t differing = 0;
    for (size_t group = 0; group < leaders.size(); ++group) {
      const auto compared = compare(share, *leaders[group]);
      if (!compared) continue;
      if (compared->differs()) {
        ++differing;
        if (leaders.size() == 1) {
          split.apart_ratio = std::expm1(compared->apart);
          split.own_ratio = std::expm1(compared->own);
        }
      } else if (!nearest || compared->apart < least) {
        nearest = group;
        least = compared->apart;
      }
    }
    if (leaders.empty() || (!nearest && differing > 0)) {
      leaders.push_back(&share);
      split.groups.push_back({share.provider});
    } else {
      split.groups[nearest.value_or(0)].push_back(share.provider);
    }
  }
  for (auto& group : split.groups) std::sort(group.begin(), group.end());
  return split;
}

}  // namespace

std::vector<ProviderSplit> split_by_provider(const std::vector<std::vector<ScreenedServer>>& parts) {
  std::map<size_t, std::vector<size_t>> members_of;
  for (size_t i = 0; !parts.empty() && i < parts[0].size(); ++i) members_of[parts[0][i].platform].push_back(i);
  std::vector<ProviderSplit> splits;
  for (const auto& [platform, members] : members_of) {
    ProviderSplit split = split_of(shares_of(parts, members));
    split.platform = platform;
    if (split.groups.size() > 1) splits.push_back(std::move(split));
  }
  return splits;
}

}  // namespace perfcast::program
