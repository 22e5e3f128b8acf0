#include "fleet/testing/cluster_json.h"

#include <cmath>

#include "base/json.h"

namespace perfcast::fleet {

Json to_json(const Cluster& cluster) {
  Json groups = Json::array();
  for (const NodeGroup& group : cluster.groups) {
    Json json = {{"platform", group.platform},
                 {"nodes", group.nodes},
                 {"cores_per_node", group.cores_per_node},
                 {"gpus_per_node", group.gpus_per_node}};
    const auto put = [&](const char* key, double value) {
      if (!std::isnan(value)) json[key] = value;
    };
    put("memory_bytes_per_node", group.memory_bytes_per_node);
    put("idle_w_per_node", group.idle_w_per_node);
    put("busy_w_per_node", group.busy_w_per_node);
    put("price_per_node_hour", group.price_per_node_hour);
    groups.push_back(std::move(json));
  }
  Json json = {{"schema", "perfcast.cluster/1"}};
  if (!cluster.currency.empty()) json["currency"] = cluster.currency;
  if (!cluster.note.empty()) json["note"] = cluster.note;
  json["groups"] = std::move(groups);
  return json;
}

}  // namespace perfcast::fleet
