#include "program/across/machine_factor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/statistics.h"
#include "base/text.h"
#include "machine/facts/cpu_text.h"
#include "program/corpus/server_levels.h"
#include "program/explain/host_match.h"
#include "program/forecast/server_name.h"

namespace perfcast::program {
namespace {

constexpr double kPriorServers = 6;    // what all CPU models say of one counts as so many of its servers
constexpr size_t kFewestFamilies = 3;  // timed on both
constexpr double kNormal90 = 1.6449;   // half of a 90% interval over the standard deviation

struct ServerLevel {
  const Server* server;
  double log_ratio, deviation;
};
// By platform id.
std::map<std::string, std::vector<ServerLevel>> server_levels(const Bundle& bundle) {
  std::map<std::string, std::vector<ServerLevel>> levels;
  for (const Server& server : bundle.servers) {
    const auto ratio = server.facts.find(kServerTimeRatio), deviation = server.facts.find(kServerDeviation);
    if (ratio == server.facts.end() || deviation == server.facts.end() || !(ratio->second > 0)) continue;
    levels[server.platform].push_back({&server, std::log(ratio->second), deviation->second});
  }
  return levels;
}

// Where servers of a series lie among those of their CPU model: few say little of it.
double series_level(const std::vector<ServerLevel>& levels, const std::string& vendor, const std::string& series) {
  std::vector<double> own;
  for (const ServerLevel& level : levels) {
    if (level.server->vendor == vendor && series_of(level.server->name) == series) own.push_back(level.log_ratio);
  }
  if (own.empty()) return 0;
  const auto n = static_cast<double>(own.size());
  return median(std::move(own)) * n / (n + 1);
}

// Of squared log deviations: of all servers, or about their series where those are known.
double squares_of(const std::vector<ServerLevel>& levels, bool about_series) {
  std::map<std::pair<std::string, std::string>, double> known;
  double sum = 0;
  for (const ServerLevel& level : levels) {
    double squared = level.deviation * level.deviation;
    if (about_series) {
      const std::pair key{level.server->vendor, series_of(level.server->name)};
      if (!known.contains(key)) known[key] = series_level(levels, key.first, key.second);
      squared += std::pow(level.log_ratio - known[key], 2) - level.log_ratio * level.log_ratio;
    }
    sum += std::max(squared, 0.0);
  }
  return sum;
}

void take_server(const Bundle& bundle, NamedMachine& machine) {
  const auto levels = server_levels(bundle);
  double sum = 0, platforms = 0;
  for (const auto& [platform, own] : levels) {
    if (own.size() < 2) continue;
    sum += squares_of(own, false) / static_cast<double>(own.size() - 1);
    ++platforms;
  }
  const double usual = platforms > 0 ? sum / platforms : kServerDeviationLog * kServerDeviationLog;
  machine.server_variance = usual;
  const auto found = levels.find(bundle.platforms[machine.platform].id);
  if (found == levels.end()) return;
  const auto n = static_cast<double>(found->second.size());
  if (machine.server) {
    const Server& server = bundle.servers[*machine.server];
    machine.server_level = series_level(found->second, server.vendor, series_of(server.name));
  }
  const double squares = squares_of(found->second, machine.server.has_value());
  machine.server_variance = (squares + kPriorServers * usual) / (n - 1 + kPriorServers) * (1 + 1 / n);
}

NamedMachine machine_on(const Bundle& bundle, size_t platform) {
  NamedMachine machine;
  machine.platform = platform;
  machine.cpu = bundle.platforms[platform].name;
  return machine;
}

// Log ratios of each family that was timed on both, of a table of relative times [programs x platforms].
class FamilyRatios {
 public:
  // An empty group: of all kinds.
  FamilyRatios(const Bundle& bundle, const std::string& group) {
    std::map<std::string, std::vector<size_t>> members;
    for (size_t p = 0; p < bundle.programs.size(); ++p) {
      if (group.empty() || bundle.programs[p].group == group) members[bundle.programs[p].family].push_back(p);
    }
    const Eigen::MatrixXd& times = bundle.training_log_rpv;
    means_ = Eigen::MatrixXd::Constant(static_cast<Eigen::Index>(members.size()), times.cols(), kUnknown);
    Eigen::Index row = 0;
    for (const auto& [family, programs] : members) {
      for (Eigen::Index j = 0; j < times.cols(); ++j) {
        double sum = 0, n = 0;
        for (const size_t p : programs) {
          const double value = times(static_cast<Eigen::Index>(p), j);
          if (std::isnan(value)) continue;
          sum += value;
          ++n;
        }
        if (n > 0) means_(row, j) = sum / n;
      }
      ++row;
    }
  }

  std::vector<double> between(size_t a, size_t b) const {
    std::vector<double> ratios;
    for (Eigen::Index row = 0; row < means_.rows(); ++row) {
      const double ratio = means_(row, static_cast<Eigen::Index>(b)) - means_(row, static_cast<Eigen::Index>(a));
      if (!std::isnan(ratio)) ratios.push_back(ratio);
    }
    return ratios;
  }

  // The median over all pairs of platforms.
  double usual_variance() const {
    std::vector<double> variances;
    for (Eigen::Index a = 0; a < means_.cols(); ++a) {
      for (Eigen::Index b = a + 1; b < means_.cols(); ++b) {
        const std::vector<double> ratios = between(static_cast<size_t>(a), static_cast<size_t>(b));
        if (ratios.size() >= kFewestFamilies) variances.push_back(std::pow(standard_deviation(ratios), 2));
      }
    }
    return median(std::move(variances));
  }

 private:
  Eigen::MatrixXd means_;  // [families x platforms]
};

MachineFactor same_cpu(const std::array<NamedMachine, 2>& machines) {
  MachineFactor factor;
  factor.machines = machines;
  factor.basis = "servers";
  factor.log_ratio = machines[1].server_level - machines[0].server_level;
  return factor;
}

}  // namespace

std::string series_of(const std::string& instance_type) {
  if (const size_t dot = instance_type.rfind('.'); dot != std::string::npos) {
    const std::string size = instance_type.substr(dot + 1);
    return instance_type.substr(0, dot) + (size.starts_with("metal") ? ".metal" : "");
  }
  std::string series;
  for (size_t i = 0; i < instance_type.size(); ++i) {
    const char c = instance_type[i];
    const bool is_version = i >= 2 && instance_type[i - 1] == 'v' && instance_type[i - 2] == '_';
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 || is_version) series += c;
  }
  return series;
}

Result<NamedMachine> machine_of(const Bundle& bundle, const HostFacts& host, const std::string& where) {
  const auto match = match_host(host, bundle.platforms);
  if (!match) {
    return usage_error("unknown-host", "the bundle has no CPU like '" + printable(host.name) + "'", where,
                       nearest_machines(bundle.platforms, bundle.servers, host.name));
  }
  if (match->certainty == HostMatch::Certainty::kNearest) {
    return usage_error(
        "unknown-host", "the CPU '" + printable(host.name) + "' hides its model, or is none of the bundle's", where,
        "the CPU's name; by its flags and caches, the nearest is " + bundle.platforms[match->platform].name);
  }
  NamedMachine machine = machine_on(bundle, match->platform);
  if (match->certainty != HostMatch::Certainty::kName) machine.how = match->how;
  take_server(bundle, machine);
  return machine;
}

Result<NamedMachine> machine_called(const Bundle& bundle, const std::string& text, const std::string& where) {
  if (text.find('\n') != std::string::npos) {
    const auto host = cpu_facts_from_text(text);
    if (host) return machine_of(bundle, *host, where);
    return usage_error("unknown-host", "the text names no CPU model", where,
                       "what lscpu prints, or a CPU model's name, or an instance type");
  }
  const auto platform = platform_named(bundle.platforms, bundle.servers, text, where);
  if (!platform) {
    HostFacts host;
    host.name = text;
    auto machine = machine_of(bundle, host, where);  // written in another way
    return machine ? machine : platform.error();
  }
  NamedMachine machine = machine_on(bundle, *platform);
  for (const size_t server : servers_called(bundle.servers, text)) {
    if (bundle.servers[server].platform == bundle.platforms[*platform].id) machine.server = server;
  }
  take_server(bundle, machine);
  return machine;
}

Result<MachineFactor> factor_of_group(const Bundle& bundle, const std::array<NamedMachine, 2>& machines,
                                      const std::string& group) {
  std::set<std::string> groups;
  for (const Program& program : bundle.programs) groups.insert(program.group);
  if (!groups.contains(group)) {
    return usage_error("unknown-group", "the bundle has no programs of the kind '" + printable(group) + "'", "--kind",
                       "one of " + join(std::vector<std::string>(groups.begin(), groups.end()), ", "));
  }
  MachineFactor factor = same_cpu(machines);
  if (factor.is_same_cpu()) return factor;
  FamilyRatios families(bundle, group);
  std::vector<double> ratios = families.between(machines[0].platform, machines[1].platform);
  factor.basis = group;
  if (ratios.size() < kFewestFamilies) {
    families = FamilyRatios(bundle, "");
    ratios = families.between(machines[0].platform, machines[1].platform);
    factor.notes.push_back(
        fmt::format("too few programs of the kind '{}' were timed on both CPU models: those of all kinds say the "
                    "factor, which differ more",
                    printable(group)));
    factor.basis = "all";
  }
  if (ratios.size() < kFewestFamilies) {
    return Error{"no-times",
                 fmt::format("programs of {} families were timed on both {} and {}: too few", ratios.size(),
                             machines[0].cpu, machines[1].cpu),
                 "--bundle", "--profile FILE, or a bundle with more times of both", ErrorKind::kUsage};
  }
  const auto n = static_cast<double>(ratios.size());
  const double spread = standard_deviation(ratios);
  const double usual = families.usual_variance();
  factor.log_ratio += mean(ratios);
  factor.program_variance =
      ((n - 1) * spread * spread + kPriorFamilies * usual) / (n - 1 + kPriorFamilies) * (1 + 1 / n);
  factor.families = static_cast<int64_t>(ratios.size());
  return factor;
}

Result<MachineFactor> factor_of_profile(const Forecaster& forecaster, const std::array<NamedMachine, 2>& machines,
                                        const Profile& profile) {
  MachineFactor factor = same_cpu(machines);
  if (factor.is_same_cpu()) return factor;
  auto forecast = forecaster.forecast(profile, {});
  if (!forecast) return forecast.error();
  const auto a = static_cast<Eigen::Index>(machines[0].platform), b = static_cast<Eigen::Index>(machines[1].platform);
  const Forecast relative = Forecaster::relative_to(*forecast, a);
  factor.log_ratio += relative.log_rpv(b);
  factor.program_variance = std::pow((relative.upper(b) - relative.lower(b)) / 2 / kNormal90, 2);
  factor.basis = "profile";
  for (const ProfileWarning& warning : forecast->warnings) factor.notes.push_back("the profile: " + warning.message);
  return factor;
}

}  // namespace perfcast::program
