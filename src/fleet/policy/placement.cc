#include "fleet/policy/placement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace perfcast::fleet {
namespace {

constexpr uint64_t bit(size_t group) { return uint64_t{1} << group; }

}  // namespace

Placement::Placement(const Cluster& cluster, const Workload& workload, Policy policy, const SimulationOptions& options,
                     const Estimates& estimates, bool backfills)
    : workload_(workload),
      estimates_(estimates),
      policy_(info(policy)),
      tie_ratio_(options.tie_ratio),
      random_(options.seed) {
  for (const NodeGroup& group : cluster.groups) {
    size_.push_back(static_cast<double>(group.gpus_per_node > 0 ? group.gpus() : group.cores()));
    backlogs_.emplace_back(group, !backfills);
  }
  turn_.assign(size_.size(), 0);
  order_key_.assign(size_.size(), 0);
  if (policy_.order == GroupOrder::kFastestPlatform) ranks_ = estimates.platform_ranks(tie_ratio_);
}

uint64_t Placement::choose(int32_t job, uint64_t feasible, const SimulationState& state) {
  switch (policy_.choice) {
    case GroupChoice::kAny:
      return feasible;
    case GroupChoice::kInTurn:
      return take_turn(feasible);
    case GroupChoice::kByChance:
      return draw(feasible);
    case GroupChoice::kFirstDone:
      return first_done(job, feasible, state);
  }
  return feasible;
}

// Smooth weighted round robin: every group earns its size each turn, the richest pays for the job.
uint64_t Placement::take_turn(uint64_t feasible) {
  size_t best = size_.size();
  double total = 0;
  for (size_t group = 0; group < size_.size(); ++group) {
    if (!(feasible & bit(group))) continue;
    turn_[group] += size_[group];
    total += size_[group];
    if (best == size_.size() || turn_[group] > turn_[best]) best = group;
  }
  turn_[best] -= total;
  return bit(best);
}

uint64_t Placement::draw(uint64_t feasible) {
  double total = 0;
  for (size_t group = 0; group < size_.size(); ++group) total += feasible & bit(group) ? size_[group] : 0;
  double left = random_.uniform() * total;
  size_t last = 0;
  for (size_t group = 0; group < size_.size(); ++group) {
    if (!(feasible & bit(group))) continue;
    last = group;
    left -= size_[group];
    if (left < 0) break;
  }
  return bit(last);
}

void Placement::rebuild(int32_t group, const SimulationState& state) {
  const auto index = static_cast<size_t>(group);
  Backlog& backlog = backlogs_[index];
  backlog.reset(state.now_s);
  for (const BelievedEnd& end : state.groups[index].ends) {
    const RunningJob& running = state.running[static_cast<size_t>(end.slot)];
    backlog.run(workload_.jobs[static_cast<size_t>(running.job)], std::max(state.now_s, end.at_s));
  }
  if (state.groups[index].waiting > 0) {
    for (size_t i = state.first; i < state.queue.size(); ++i) {
      const WaitingJob& waiting = state.queue[i];
      if (waiting.job == kNoIndex || !(waiting.groups & bit(index))) continue;
      const auto job = static_cast<size_t>(waiting.job);
      backlog.queue(workload_.jobs[job], estimates_.estimate_s(job, index), state.now_s);
    }
  }
  stale_ &= ~bit(index);
}

uint64_t Placement::first_done(int32_t job, uint64_t feasible, const SimulationState& state) {
  if ((feasible & (feasible - 1)) == 0) {  // there is no choice: what waits there is added up when somebody has one
    stale_ |= feasible;
    return feasible;
  }
  const auto index = static_cast<size_t>(job);
  const JobRequest& request = workload_.jobs[index];
  double least = std::numeric_limits<double>::infinity();
  for (size_t group = 0; group < size_.size(); ++group) {
    order_key_[group] = std::numeric_limits<double>::infinity();
    if (!(feasible & bit(group))) continue;
    if (stale_ & bit(group)) rebuild(static_cast<int32_t>(group), state);
    const double start_s = backlogs_[group].start_s(request, state.now_s);
    const double completion_s = start_s - state.now_s + estimates_.cautious_s(index, group);
    const double weight = estimates_.weight();
    order_key_[group] = weight == 0
                            ? completion_s
                            : std::pow(completion_s, 1 - weight) * std::pow(estimates_.expense(index, group), weight);
    least = std::min(least, order_key_[group]);
  }
  uint64_t best = 0;
  for (size_t group = 0; group < size_.size(); ++group) {
    if (!(feasible & bit(group)) || order_key_[group] > least * (1 + tie_ratio_)) continue;
    best |= bit(group);
    backlogs_[group].queue(request, estimates_.estimate_s(index, group), state.now_s);
  }
  return best;
}

double Placement::key(int32_t job, uint64_t feasible) const {
  if (!policy_.shortest_first) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t group = 0; group < size_.size(); ++group) {
    if (feasible & bit(group)) least = std::min(least, estimates_.estimate_s(static_cast<size_t>(job), group));
  }
  return least;
}

const std::vector<int32_t>& Placement::order(int32_t job, uint64_t open, const SimulationState& state) {
  order_.clear();
  for (uint64_t left = open; left != 0; left &= left - 1) order_.push_back(static_cast<int32_t>(__builtin_ctzll(left)));
  if (order_.size() < 2) return order_;
  for (const int32_t group : order_) {
    const auto index = static_cast<size_t>(group);
    const NodePool& pool = state.groups[index].pool;
    const double busy_share =
        pool.group().gpus_per_node > 0
            ? 1 - static_cast<double>(pool.free_gpus()) / static_cast<double>(pool.group().gpus())
            : 1 - static_cast<double>(pool.free_cores()) / static_cast<double>(pool.group().cores());
    switch (policy_.order) {
      case GroupOrder::kFreest:
        order_key_[index] = busy_share;
        break;
      case GroupOrder::kFastestPlatform:
        order_key_[index] = ranks_[index] + busy_share / 2;
        break;
      case GroupOrder::kFastestForJob:
        order_key_[index] = estimates_.cautious_s(static_cast<size_t>(job), index);
    }
  }
  std::stable_sort(order_.begin(), order_.end(), [&](int32_t a, int32_t b) {
    return order_key_[static_cast<size_t>(a)] < order_key_[static_cast<size_t>(b)];
  });
  return order_;
}

}  // namespace perfcast::fleet
