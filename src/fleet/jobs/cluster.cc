#include "fleet/jobs/cluster.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/text.h"

namespace perfcast::fleet {
namespace {

int64_t sum(const Cluster& cluster, int64_t (*of)(const NodeGroup&)) {
  int64_t total = 0;
  for (const NodeGroup& group : cluster.groups) total += of(group);
  return total;
}

bool negative(double value) { return value < 0 || std::isinf(value); }  // false for NaN: not known

}  // namespace

int64_t Cluster::nodes() const {
  return sum(*this, [](const NodeGroup& group) { return group.nodes; });
}
int64_t Cluster::cores() const {
  return sum(*this, [](const NodeGroup& group) { return group.cores(); });
}
int64_t Cluster::gpus() const {
  return sum(*this, [](const NodeGroup& group) { return group.gpus(); });
}

Status check_cluster(const Cluster& cluster) {
  constexpr int64_t kMost = int64_t{1} << 24;  // nodes of a group, cores of a node: far above any machine
  std::set<std::string> seen;
  for (size_t i = 0; i < cluster.groups.size(); ++i) {
    const NodeGroup& group = cluster.groups[i];
    const std::string where = fmt::format("groups[{}] ({})", i, printable(group.platform));
    const auto bad = [&](std::string message, std::string expected) {
      return Error{"bad-cluster", std::move(message), where, std::move(expected)};
    };
    if (group.platform.empty()) return bad("a group of nodes has no platform", "the platform's name");
    if (!seen.insert(group.platform).second) {
      return bad("the platform is named by two groups", "one group for each platform, with the sum of its nodes");
    }
    if (group.nodes < 0 || group.nodes > kMost) {
      return bad(fmt::format("{} nodes", group.nodes), fmt::format("0 to {}", kMost));
    }
    if (group.cores_per_node < 0 || group.gpus_per_node < 0 || group.cores_per_node > kMost ||
        group.gpus_per_node > kMost) {
      return bad(fmt::format("{} cores and {} GPUs a node", group.cores_per_node, group.gpus_per_node),
                 fmt::format("0 to {} of each", kMost));
    }
    if (group.cores_per_node == 0 && group.gpus_per_node == 0) {
      return bad("its nodes have neither cores nor GPUs", "cores_per_node or gpus_per_node above 0");
    }
    if (negative(group.memory_bytes_per_node) || negative(group.idle_w_per_node) || negative(group.busy_w_per_node) ||
        negative(group.price_per_node_hour)) {
      return bad("memory, power or price is negative or infinite", "numbers from 0, or none where they aren't known");
    }
    if (group.busy_w_per_node < group.idle_w_per_node) {
      return bad(
          fmt::format("{} W when busy is less than {} W when idle", group.busy_w_per_node, group.idle_w_per_node),
          "busy power of at least the idle power");
    }
  }
  if (cluster.nodes() == 0) {
    return Error{"no-nodes", "the cluster has no nodes", "", "at least one group with nodes above 0"};
  }
  return {};
}

}  // namespace perfcast::fleet
