#pragma once
// The machines that jobs are placed on: groups of like nodes, one group per platform.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::fleet {

// Nodes of one platform, all alike. A limit or figure that isn't known is NaN and takes no part in anything.
struct NodeGroup {
  std::string platform;  // verbatim, as in the workload; unique in a cluster
  int64_t nodes = 0;
  int64_t cores_per_node = 1;
  bool cores_stated = true;  // false: nobody said how many; an instance type has its vCPUs
  int64_t gpus_per_node = 0;
  double memory_bytes_per_node = kUnknown;
  double idle_w_per_node = kUnknown;  // drawn while nothing runs
  double busy_w_per_node = kUnknown;  // drawn while every core (GPU, where jobs ask for GPUs) works
  double price_per_node_hour = kUnknown;

  int64_t cores() const { return nodes * cores_per_node; }
  int64_t gpus() const { return nodes * gpus_per_node; }
};

struct JobRequest;

// Whether the group's nodes, all free, hold the job.
bool fits_when_empty(const JobRequest& job, const NodeGroup& group);

struct Cluster {
  std::vector<NodeGroup> groups;
  std::string currency;   // of the prices; empty: not said
  std::string note = {};  // for people: where its figures come from

  int64_t nodes() const;
  int64_t cores() const;
  int64_t gpus() const;
};

// "no-nodes": the cluster has none; "bad-cluster": a platform named twice or without a name, a negative count, no
// cores, a negative figure, busy power below idle power.
Status check_cluster(const Cluster& cluster);

}  // namespace perfcast::fleet
