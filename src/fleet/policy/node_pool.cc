#include "fleet/policy/node_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace perfcast::fleet {

TaskShape::TaskShape(const JobRequest& job) : cores(job.cores), gpus(job.gpus) {
  const double memory = std::isnan(job.memory_bytes) ? 0 : job.memory_bytes;
  memory_bytes = memory;
  if (!job.spread) return;
  tasks = job.gpus > 0 ? job.gpus : job.cores;
  cores = job.gpus > 0 ? (job.cores + job.gpus - 1) / job.gpus : 1;
  gpus = job.gpus > 0 ? 1 : 0;
  memory_bytes = memory / tasks;
}

NodePool::NodePool(const NodeGroup& group) : group_(group) {
  empty_.cores = static_cast<int32_t>(group.cores_per_node);
  empty_.gpus = static_cast<int32_t>(group.gpus_per_node);
  empty_.memory_bytes =
      std::isnan(group.memory_bytes_per_node) ? std::numeric_limits<double>::infinity() : group.memory_bytes_per_node;
  const auto nodes = static_cast<size_t>(group.nodes);
  free_.assign(nodes, empty_);
  by_level_.resize(static_cast<size_t>(level_of(empty_)) + 1);
  place_.resize(nodes);
  auto& full = by_level_.back();
  for (size_t i = 0; i < nodes; ++i) {  // the first node is taken first
    full.push_back(static_cast<int32_t>(nodes - 1 - i));
    place_[nodes - 1 - i] = static_cast<int32_t>(i);
  }
  free_cores_total_ = group.cores();
  free_gpus_total_ = group.gpus();
}

int32_t NodePool::tasks_on(const Node& node, const TaskShape& shape) {
  int32_t tasks = shape.tasks;
  if (shape.cores > 0) tasks = std::min(tasks, node.cores / shape.cores);
  if (shape.gpus > 0) tasks = std::min(tasks, node.gpus / shape.gpus);
  if (shape.memory_bytes > 0) {
    // Shares of memory were divided: a hair's breadth must not keep a task off a node that it fills.
    const double room = std::floor(node.memory_bytes / shape.memory_bytes * (1 + 1e-12));
    if (room < tasks) tasks = std::max(0, static_cast<int32_t>(room));
  }
  return tasks;
}

void NodePool::add(Node& node, const TaskShape& shape, const NodePart& part, int sign) {
  node.cores += sign * part.cores;
  node.gpus += sign * part.gpus;
  const int32_t tasks = shape.cores > 0 ? part.cores / shape.cores : part.gpus / std::max(1, shape.gpus);
  if (shape.memory_bytes > 0) node.memory_bytes += sign * shape.memory_bytes * tasks;
}

void NodePool::move(int32_t node, int32_t from_level, int32_t to_level) {
  if (from_level == to_level) return;
  auto& from = by_level_[static_cast<size_t>(from_level)];
  auto& to = by_level_[static_cast<size_t>(to_level)];
  const auto place = static_cast<size_t>(place_[static_cast<size_t>(node)]);
  from[place] = from.back();
  place_[static_cast<size_t>(from[place])] = static_cast<int32_t>(place);
  from.pop_back();
  place_[static_cast<size_t>(node)] = static_cast<int32_t>(to.size());
  to.push_back(node);
}

void NodePool::change(const TaskShape& shape, const NodePart& part, int sign) {
  Node& node = free_[static_cast<size_t>(part.node)];
  const int32_t before = level_of(node);
  add(node, shape, part, sign);
  move(part.node, before, level_of(node));
  free_cores_total_ += int64_t{sign} * part.cores;
  free_gpus_total_ += int64_t{sign} * part.gpus;
}

bool NodePool::fits_when_empty(const TaskShape& shape) const {
  return int64_t{tasks_on(empty_, shape)} * group_.nodes >= shape.tasks;
}

bool NodePool::take(const TaskShape& shape, std::vector<NodePart>& parts) {
  parts.clear();
  if (free_cores_total_ < int64_t{shape.tasks} * shape.cores || free_gpus_total_ < int64_t{shape.tasks} * shape.gpus) {
    return false;
  }
  const int32_t need = group_.cores_per_node > 0 ? shape.cores : shape.gpus;
  if (need >= static_cast<int32_t>(by_level_.size())) return false;
  int32_t left = shape.tasks;
  const auto look = [&](const std::vector<int32_t>& nodes) {
    for (size_t i = nodes.size(); i-- > 0 && left > 0;) {
      const int32_t here = std::min(left, tasks_on(free_[static_cast<size_t>(nodes[i])], shape));
      if (here == 0) continue;
      parts.push_back({nodes[i], here * shape.cores, here * shape.gpus});
      left -= here;
    }
  };
  if (shape.tasks == 1) {
    for (size_t level = static_cast<size_t>(need); level < by_level_.size() && left > 0; ++level)
      look(by_level_[level]);
  } else {
    for (size_t level = by_level_.size(); level-- > static_cast<size_t>(need) && left > 0;) look(by_level_[level]);
  }
  if (left > 0) {
    parts.clear();
    return false;
  }
  for (const NodePart& part : parts) change(shape, part, -1);
  return true;
}

void NodePool::give_back(const TaskShape& shape, const std::vector<NodePart>& parts) {
  for (const NodePart& part : parts) change(shape, part, +1);
}

PoolProbe::PoolProbe(const NodePool& pool, const TaskShape& wanted) : wanted_(wanted), free_(pool.free_) {
  for (const auto& node : free_) room_ += room(node);
}

int64_t PoolProbe::room(const NodePool::Node& node) const { return NodePool::tasks_on(node, wanted_); }

void PoolProbe::give_back(const TaskShape& shape, const std::vector<NodePart>& parts) {
  for (const NodePart& part : parts) {
    NodePool::Node& node = free_[static_cast<size_t>(part.node)];
    room_ -= room(node);
    NodePool::add(node, shape, part, +1);
    room_ += room(node);
  }
}

}  // namespace perfcast::fleet
