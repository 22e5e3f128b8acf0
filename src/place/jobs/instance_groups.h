#pragma once
// Cloud instance types as machines: by which names they are known, and groups of a cluster that are such.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/cluster.h"
#include "program/corpus/corpus.h"
#include "program/explain/prices.h"

namespace perfcast::place {

// What a group's name stands for: a CPU model, or an instance type that carries it.
struct GroupMachine {
  size_t platform = 0;           // index into the platforms
  std::optional<size_t> server;  // index into the servers
};

// Of each group, by a platform's whole name or id, as servers_called() has it, or by a part of one platform's name. An
// instance type's group gets its vCPUs where no cores are stated, and its memory where that is known and not stated.
// "missing-platform" with near names (`of_whom`: whose it is none of, for people), "ambiguous-platform", "bad-cluster":
// more cores than vCPUs.
Result<std::vector<GroupMachine>> find_machines(fleet::Cluster& cluster, const std::vector<Platform>& platforms,
                                                const std::vector<program::Server>& servers,
                                                const std::string& of_whom);

// Nodes' prices by the list, of groups that are called "VENDOR SERVER" or "VENDOR/SERVER", or are `machines` of
// `servers` (both may be empty). What has no price keeps the cluster's own; groups that have neither are named in the
// cluster's note. "mixed-currencies" where the cluster keeps a price in another currency, or where one of the two isn't
// stated.
Status take_prices(const program::PriceList& prices, const std::vector<GroupMachine>& machines,
                   const std::vector<program::Server>& servers, fleet::Cluster& cluster);

}  // namespace perfcast::place
