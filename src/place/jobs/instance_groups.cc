#include "place/jobs/instance_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "machine/facts/chip_names.h"
#include "program/evaluate/platform_name.h"
#include "program/forecast/server_name.h"

namespace perfcast::place {
namespace {

constexpr double kBytesPerGib = 1024.0 * 1024 * 1024;

std::optional<size_t> platform_called(const std::vector<Platform>& platforms, const std::string& text) {
  for (size_t i = 0; i < platforms.size(); ++i) {
    if (platforms[i].name == text || platforms[i].id == text) return i;
  }
  return std::nullopt;
}

Result<GroupMachine> find_machine(const std::string& text, const std::vector<Platform>& platforms,
                                  const std::vector<program::Server>& servers, const std::string& of_whom) {
  const std::string where = "the cluster";
  if (const auto platform = platform_called(platforms, text)) return GroupMachine{*platform, std::nullopt};
  const std::vector<size_t> called = program::servers_called(servers, text);
  if (called.size() > 1) {
    std::vector<std::string> names;
    names.reserve(called.size());
    for (const size_t i : called)
      names.push_back(servers[i].vendor + " " + servers[i].name + " (" + servers[i].platform + ")");
    return Error{"ambiguous-platform", "several instance types are called '" + printable(text) + "'", where,
                 "one of " + join(names, ", ") + "; or the CPU model, with its number of cores"};
  }
  if (called.empty()) {
    const auto part = program::look_up_platform(platforms, text, where, ErrorKind::kData);
    if (!part) return part.error();
    if (*part) return GroupMachine{**part, std::nullopt};
    // Families that came after the measurements: people know that they exist, and look for a typing error.
    const size_t space = text.find(' ');
    const std::string chip = space == std::string::npos
                                 ? ""
                                 : chip_of_instance_type(lower_case(text.substr(0, space)), text.substr(space + 1));
    return Error{"missing-platform",
                 "'" + printable(text) + "' is no CPU model or instance type " + of_whom +
                     (chip.empty() ? "" : ": its CPU is " + chip + ", and nobody measured this type"),
                 where, program::nearest_machines(platforms, servers, text)};
  }
  const auto platform = platform_called(platforms, servers[called.front()].platform);
  if (platform) return GroupMachine{*platform, called.front()};
  return Error{
      "missing-platform",
      "the CPU model of '" + printable(text) + "', " + servers[called.front()].platform + ", is none " + of_whom, where,
      program::nearest_machines(platforms, servers, text)};
}

Status fill_in(const program::Server& server, fleet::NodeGroup& group) {
  if (server.memory_gib && std::isnan(group.memory_bytes_per_node))
    group.memory_bytes_per_node = *server.memory_gib * kBytesPerGib;
  constexpr double kMostVcpus = 1 << 20;
  if (!server.vcpus || !(*server.vcpus >= 1 && *server.vcpus <= kMostVcpus)) return {};  // not known
  const auto vcpus = static_cast<int64_t>(*server.vcpus);
  if (!group.cores_stated) group.cores_per_node = vcpus;
  group.cores_stated = true;
  if (group.cores_per_node <= vcpus) return {};
  return Error{"bad-cluster",
               fmt::format("{} has {} vCPUs, and its nodes are said to have {} cores", printable(group.platform), vcpus,
                           group.cores_per_node),
               "the cluster", "as many cores or fewer, or none stated"};
}

// "aws c7i.large" and "aws/c7i.large", where nobody knows the instance type.
std::optional<double> price_by_name(const program::PriceList& prices, const std::string& name) {
  const size_t between = name.find_first_of(" /");
  if (between == std::string::npos) return std::nullopt;
  return prices.per_hour(name.substr(0, between), name.substr(between + 1));
}

}  // namespace

Result<std::vector<GroupMachine>> find_machines(fleet::Cluster& cluster, const std::vector<Platform>& platforms,
                                                const std::vector<program::Server>& servers,
                                                const std::string& of_whom) {
  std::vector<GroupMachine> machines;
  for (fleet::NodeGroup& group : cluster.groups) {
    const auto machine = find_machine(group.platform, platforms, servers, of_whom);
    if (!machine) return machine.error();
    if (machine->server) {
      if (Status filled = fill_in(servers[*machine->server], group); !filled) return filled.error();
    }
    machines.push_back(*machine);
  }
  return machines;
}

Status take_prices(const program::PriceList& prices, const std::vector<GroupMachine>& machines,
                   const std::vector<program::Server>& servers, fleet::Cluster& cluster) {
  bool keeps_own = false, takes_any = false;
  std::vector<std::string> without, replaced;
  for (size_t g = 0; g < cluster.groups.size(); ++g) {
    fleet::NodeGroup& group = cluster.groups[g];
    std::optional<double> price = price_by_name(prices, group.platform);
    if (g < machines.size() && machines[g].server) {
      const program::Server& server = servers[*machines[g].server];
      price = prices.per_hour(server.vendor, server.name);
    }
    if (price) {
      if (!std::isnan(group.price_per_node_hour) && group.price_per_node_hour != *price)
        replaced.push_back(printable(group.platform));
      group.price_per_node_hour = *price;
      takes_any = true;
    } else if (std::isnan(group.price_per_node_hour)) {
      without.push_back(printable(group.platform));
    } else {
      keeps_own = true;
    }
  }
  if (keeps_own && takes_any && cluster.currency != prices.currency()) {
    const auto said = [](const std::string& currency) {
      return currency.empty() ? std::string("a currency that isn't stated") : printable(currency);
    };
    return Error{"mixed-currencies",
                 "the cluster's own prices are in " + said(cluster.currency) + ", those of the list in " +
                     said(prices.currency()),
                 "the cluster", "one currency, stated in both; or a price in the list for every group"};
  }
  if (takes_any) {
    cluster.currency = prices.currency();
    cluster.note += (cluster.note.empty() ? "" : "; ") + ("prices: " + prices.source_in_words());
  }
  if (!without.empty()) {
    cluster.note += (cluster.note.empty() ? "" : "; ") + std::string("no price is known for ") + join(without, ", ");
  }
  if (!replaced.empty()) {
    cluster.note += (cluster.note.empty() ? "" : "; ") + std::string("prices by the list in place of the cluster's: ") +
                    join(replaced, ", ");
  }
  return {};
}

}  // namespace perfcast::place
