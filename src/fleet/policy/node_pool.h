#pragma once
// Free cores, GPUs and memory of one group's nodes.

#include <cstdint>
#include <vector>

#include "fleet/jobs/cluster.h"
#include "fleet/jobs/outcome.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

// A request as like tasks, each of which lies on one node. A job that may not spread is one task; one that may is as
// many tasks as it asks for GPUs, or else for cores.
struct TaskShape {
  explicit TaskShape(const JobRequest& job);
  int32_t tasks = 1;
  int32_t cores = 0;        // of each task
  int32_t gpus = 0;         // of each task
  double memory_bytes = 0;  // of each task; 0 where none was asked for
};

class NodePool {
 public:
  explicit NodePool(const NodeGroup& group);

  bool fits_when_empty(const TaskShape& shape) const;
  // Takes what the tasks need and writes where; false and nothing taken where they don't fit. One task goes to the node
  // with the fewest free cores that holds it; several fill the emptiest nodes first, so that a job lies on few nodes.
  bool take(const TaskShape& shape, std::vector<NodePart>& parts);
  void give_back(const TaskShape& shape, const std::vector<NodePart>& parts);

  int64_t free_cores() const { return free_cores_total_; }
  int64_t free_gpus() const { return free_gpus_total_; }
  const NodeGroup& group() const { return group_; }

  // Tasks are limited by the count of free cores alone, wherever they lie: nodes of one core, or tasks of one core.
  bool counts_cores(const TaskShape& shape) const {
    return shape.gpus == 0 && shape.memory_bytes == 0 && shape.cores == 1;
  }

 private:
  friend class PoolProbe;
  struct Node {
    int32_t cores = 0, gpus = 0;
    double memory_bytes = 0;  // infinite where not known
  };
  static int32_t tasks_on(const Node& node, const TaskShape& shape);
  static void add(Node& node, const TaskShape& shape, const NodePart& part, int sign);
  int32_t level_of(const Node& node) const { return group_.cores_per_node > 0 ? node.cores : node.gpus; }
  void change(const TaskShape& shape, const NodePart& part, int sign);
  void move(int32_t node, int32_t from_level, int32_t to_level);

  NodeGroup group_;
  Node empty_;
  std::vector<Node> free_;
  // Nodes by their free cores (GPUs where nodes have no cores), and each node's place in its list.
  std::vector<std::vector<int32_t>> by_level_;
  std::vector<int32_t> place_;
  int64_t free_cores_total_ = 0, free_gpus_total_ = 0;
};

// What a pool would hold as running jobs end: answers when a job fits, and changes nothing.
class PoolProbe {
 public:
  PoolProbe(const NodePool& pool, const TaskShape& wanted);
  void give_back(const TaskShape& shape, const std::vector<NodePart>& parts);
  bool fits() const { return room_ >= wanted_.tasks; }

 private:
  int64_t room(const NodePool::Node& node) const;  // tasks of the wanted shape that the node holds
  TaskShape wanted_;
  std::vector<NodePool::Node> free_;
  int64_t room_ = 0;  // over all nodes
};

}  // namespace perfcast::fleet
