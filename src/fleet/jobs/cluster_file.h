#pragma once
// Clusters as JSON, schema perfcast.cluster/1, and in the short form of the command line:
//   {"schema": "perfcast.cluster/1", "currency": "USD", "note": "list prices of May",
//    "groups": [{"platform": "AMD EPYC 7R32", "nodes": 4, "cores_per_node": 48, "gpus_per_node": 0,
//                "memory_bytes_per_node": 4e11, "idle_w_per_node": 120, "busy_w_per_node": 410,
//                "price_per_node_hour": 1.9}]}
// platform and nodes are required; gpus_per_node is 0 unless given, cores_per_node 1, or the vCPUs of an instance type
// (NodeGroup::cores_stated); what isn't known is left out.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/cluster.h"

namespace perfcast::fleet {

// "bad-json", "bad-json-field" (all mistakes at once, unknown keys with near names), or check_cluster's errors.
Result<Cluster> parse_cluster(std::string_view text, const std::string& source);
Result<Cluster> read_cluster(const std::string& path);

// "PLATFORM=NODESxCORES" or "PLATFORM=NODESxCORES+GPUS", cores and GPUs of each node, or "INSTANCE=NODES" with as many
// cores as the instance type has (cores_stated is false then); a platform's name may hold "=".
// "bad-cluster" names the argument.
Result<NodeGroup> parse_node_group(std::string_view argument);
// One argument for each platform.
Result<Cluster> parse_node_groups(const std::vector<std::string>& arguments);

}  // namespace perfcast::fleet
