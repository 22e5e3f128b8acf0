#include "fleet/simulate/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>

#include "fleet/policy/backfill.h"
#include "fleet/policy/estimates.h"
#include "fleet/policy/placement.h"
#include "fleet/policy/simulation_state.h"

namespace perfcast::fleet {
namespace {

enum class EventKind : uint8_t { kEnd, kCancel, kReady };  // in this order at one time

struct Event {
  double at_s;
  EventKind kind;
  int32_t subject;  // a slot of running jobs for kEnd, a job for the others
  bool operator>(const Event& other) const {
    if (at_s != other.at_s) return at_s > other.at_s;
    if (kind != other.kind) return kind > other.kind;
    return subject > other.subject;
  }
};

bool backfills(Policy policy, const SimulationOptions& options) { return options.backfill || info(policy).backfills; }

class Simulation {
 public:
  Simulation(const Cluster& cluster, const Workload& workload, Policy policy, const SimulationOptions& options,
             const Estimates& estimates, std::vector<int32_t> columns)
      : workload_(workload),
        options_(options),
        estimates_(estimates),
        columns_(std::move(columns)),
        placement_(cluster, workload, policy, options, estimates, backfills(policy, options)),
        backfill_(cluster.groups.size()),
        backfills_(backfills(policy, options)),
        sorts_(info(policy).shortest_first) {
    for (const NodeGroup& group : cluster.groups) state_.groups.emplace_back(group);
    outcome_.policy = info(policy).name;
    outcome_.jobs.resize(workload.size());
    list_followers();
  }

  Outcome run() {
    size_t next = 0;
    while (true) {
      while (next < workload_.size() && workload_.jobs[next].after != kNoIndex) ++next;
      const bool arrivals = next < workload_.size();
      if (!arrivals && events_.empty()) break;
      state_.now_s = arrivals ? workload_.jobs[next].arrival_s : events_.top().at_s;
      if (!events_.empty()) state_.now_s = std::min(state_.now_s, events_.top().at_s);
      while (!events_.empty() && events_.top().at_s <= state_.now_s) {
        const Event event = events_.top();
        events_.pop();
        handle(event);
      }
      while (next < workload_.size() && workload_.jobs[next].arrival_s <= state_.now_s) {
        if (workload_.jobs[next].after == kNoIndex) enqueue(static_cast<int32_t>(next));
        ++next;
      }
      dispatch();
    }
    if (impossible_ > 0) {
      outcome_.notes.push_back(fmt::format("{} job{} fit no node, or can run on no platform of the cluster",
                                           impossible_, impossible_ == 1 ? "" : "s"));
    }
    return std::move(outcome_);
  }

 private:
  // Jobs that wait for a job's end, as lists in one array.
  void list_followers() {
    follower_of_.assign(workload_.size() + 1, 0);
    for (const JobRequest& job : workload_.jobs) {
      if (job.after != kNoIndex) ++follower_of_[static_cast<size_t>(job.after) + 1];
    }
    for (size_t i = 1; i < follower_of_.size(); ++i) follower_of_[i] += follower_of_[i - 1];
    followers_.resize(static_cast<size_t>(follower_of_.back()));
    std::vector<int32_t> filled = follower_of_;
    for (size_t i = 0; i < workload_.size(); ++i) {
      const int32_t after = workload_.jobs[i].after;
      if (after != kNoIndex)
        followers_[static_cast<size_t>(filled[static_cast<size_t>(after)]++)] = static_cast<int32_t>(i);
    }
  }

  void release_followers(int32_t job) {
    for (int32_t i = follower_of_[static_cast<size_t>(job)]; i < follower_of_[static_cast<size_t>(job) + 1]; ++i) {
      const int32_t follower = followers_[static_cast<size_t>(i)];
      const JobRequest& request = workload_.jobs[static_cast<size_t>(follower)];
      events_.push({std::max(request.arrival_s, state_.now_s + request.think_s), EventKind::kReady, follower});
    }
  }

  uint64_t feasible_groups(int32_t job, const TaskShape& shape) const {
    uint64_t feasible = 0;
    for (size_t group = 0; group < state_.groups.size(); ++group) {
      if (estimates_.known(static_cast<size_t>(job), group) && state_.groups[group].pool.fits_when_empty(shape)) {
        feasible |= uint64_t{1} << group;
      }
    }
    return feasible;
  }

  void enqueue(int32_t job) {
    const JobRequest& request = workload_.jobs[static_cast<size_t>(job)];
    JobResult& result = outcome_.jobs[static_cast<size_t>(job)];
    result.ready_s = state_.now_s;
    WaitingJob waiting{job, 0, 0, TaskShape(request)};
    const uint64_t feasible = feasible_groups(job, waiting.shape);
    if (feasible == 0 || request.cancelled_s <= state_.now_s) {
      result.state = feasible == 0 ? JobState::kImpossible : JobState::kCancelled;
      impossible_ += feasible == 0 ? 1 : 0;
      release_followers(job);
      return;
    }
    if (!std::isnan(request.cancelled_s)) events_.push({request.cancelled_s, EventKind::kCancel, job});
    waiting.groups = placement_.choose(job, feasible, state_);
    waiting.key = placement_.key(job, feasible);
    count_waiting(waiting.groups, +1);
    if (!sorts_) {
      state_.queue.push_back(waiting);
      return;
    }
    const auto place =
        std::upper_bound(state_.queue.begin() + static_cast<std::ptrdiff_t>(state_.first), state_.queue.end(), waiting,
                         [](const WaitingJob& a, const WaitingJob& b) { return a.key < b.key; });
    state_.queue.insert(place, waiting);
    changed_ = true;
  }

  void count_waiting(uint64_t groups, int sign) {
    for (uint64_t left = groups; left != 0; left &= left - 1) {
      state_.groups[static_cast<size_t>(__builtin_ctzll(left))].waiting += sign;
    }
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case EventKind::kEnd:
        return end(event.subject);
      case EventKind::kReady:
        return enqueue(event.subject);
      case EventKind::kCancel:
        return cancel(event.subject);
    }
  }

  void cancel(int32_t job) {
    JobResult& result = outcome_.jobs[static_cast<size_t>(job)];
    if (!std::isnan(result.start_s)) return;
    for (size_t i = state_.first; i < state_.queue.size(); ++i) {
      if (state_.queue[i].job != job) continue;
      result.state = JobState::kCancelled;
      leave(i, -1);
      changed_ = true;
      release_followers(job);
      return;
    }
  }

  // Out of the queue, to run in `group` or not at all (-1): the backlogs that counted it elsewhere are wrong now.
  void leave(size_t index, int32_t group) {
    WaitingJob& waiting = state_.queue[index];
    count_waiting(waiting.groups, -1);
    for (uint64_t left = waiting.groups; left != 0; left &= left - 1) {
      const int32_t other = __builtin_ctzll(left);
      if (other != group) placement_.forget(other);
    }
    waiting.job = kNoIndex;
  }

  void end(int32_t slot) {
    RunningJob& running = state_.running[static_cast<size_t>(slot)];
    GroupState& group = state_.groups[static_cast<size_t>(running.group)];
    group.pool.give_back(running.shape, running.parts);
    const auto believed =
        std::lower_bound(group.ends.begin(), group.ends.end(), BelievedEnd{running.believed_end_s, slot});
    group.ends.erase(believed);
    if (running.believed_end_s != state_.now_s) placement_.forget(running.group);
    release_followers(running.job);
    free_slots_.push_back(slot);
    changed_ = true;
  }

  // A job that outran its estimate is believed to need a quarter more than it has had.
  void believe_again() {
    for (size_t index = 0; index < state_.groups.size(); ++index) {
      auto& ends = state_.groups[index].ends;
      while (!ends.empty() && ends.front().at_s <= state_.now_s) {
        const int32_t slot = ends.front().slot;
        RunningJob& running = state_.running[static_cast<size_t>(slot)];
        ends.erase(ends.begin());
        running.believed_end_s = state_.now_s + std::max(1.0, 0.25 * (state_.now_s - running.start_s));
        const BelievedEnd end{running.believed_end_s, slot};
        ends.insert(std::lower_bound(ends.begin(), ends.end(), end), end);
        placement_.forget(static_cast<int32_t>(index));
        changed_ = true;
      }
    }
  }

  void start(size_t index, size_t group, std::vector<NodePart>& parts) {
    const WaitingJob waiting = state_.queue[index];
    const auto job = static_cast<size_t>(waiting.job);
    leave(index, static_cast<int32_t>(group));
    int32_t slot;
    if (free_slots_.empty()) {
      slot = static_cast<int32_t>(state_.running.size());
      state_.running.emplace_back();
    } else {
      slot = free_slots_.back();
      free_slots_.pop_back();
    }
    const double time_s = workload_.times(job)[static_cast<size_t>(columns_[group])];
    const double limit_s = workload_.jobs[job].limit_s;
    const bool killed = options_.kill_at_limit && time_s > limit_s;  // false where there is no limit
    JobResult& result = outcome_.jobs[job];
    // Whoever waited may have started at another time than was added up: nodes are not one heap of cores.
    if (state_.now_s > result.ready_s) placement_.forget(static_cast<int32_t>(group));
    result.start_s = state_.now_s;
    result.run_s = killed ? limit_s : time_s;
    result.end_s = result.start_s + result.run_s;
    result.group = static_cast<int32_t>(group);
    result.state = killed ? JobState::kKilled : JobState::kDone;

    RunningJob& running = state_.running[static_cast<size_t>(slot)];
    running.job = waiting.job;
    running.group = static_cast<int32_t>(group);
    running.start_s = state_.now_s;
    running.believed_end_s = state_.now_s + estimates_.estimate_s(job, group);
    running.shape = waiting.shape;
    running.parts.swap(parts);
    auto& ends = state_.groups[group].ends;
    const BelievedEnd end{running.believed_end_s, slot};
    ends.insert(std::upper_bound(ends.begin(), ends.end(), end), end);
    events_.push({result.end_s, EventKind::kEnd, slot});
    if (options_.record_segments) {
      outcome_.segments.push_back({waiting.job, running.group, result.start_s, result.end_s,
                                   static_cast<uint32_t>(outcome_.parts.size()),
                                   static_cast<uint32_t>(running.parts.size())});
      outcome_.parts.insert(outcome_.parts.end(), running.parts.begin(), running.parts.end());
    }
  }

  // Whether some job that waits could start at all: else the rest of the queue need not be looked at.
  bool anything_open() const {
    for (size_t group = 0; group < state_.groups.size(); ++group) {
      const GroupState& here = state_.groups[group];
      const bool blocked = (blocked_ >> group & 1) != 0;
      if (!blocked && here.waiting > 0 && (here.pool.free_cores() > 0 || here.pool.free_gpus() > 0)) return true;
    }
    return false;
  }

  // Looks at the waiting jobs in order. What held for those already looked at still holds while nothing ended, so that
  // an arrival costs one look.
  void dispatch() {
    believe_again();
    if (changed_) {
      looked_at_ = state_.first;
      blocked_ = 0;
      backfill_.clear();
      changed_ = false;
    }
    for (; looked_at_ < state_.queue.size(); ++looked_at_) {
      if (state_.queue[looked_at_].job == kNoIndex) continue;
      if (!anything_open()) {
        looked_at_ = state_.queue.size();
        break;
      }
      try_start(looked_at_);
    }
    tidy();
  }

  void try_start(size_t index) {
    const WaitingJob& waiting = state_.queue[index];
    const uint64_t open = waiting.groups & ~blocked_;
    if (open == 0) return;
    for (const int32_t group : placement_.order(waiting.job, open, state_)) {
      const auto at = static_cast<size_t>(group);
      const bool taken =
          backfill_.reserved(at)
              ? backfill_.take(waiting.shape, estimates_.estimate_s(static_cast<size_t>(waiting.job), at), at, state_,
                               parts_)
              : state_.groups[at].pool.take(waiting.shape, parts_);
      if (taken) {
        start(index, at, parts_);
        return;
      }
    }
    if (!backfills_) {
      blocked_ |= waiting.groups;  // whoever comes later does not overtake
    } else if (!backfill_.any(waiting.groups)) {
      backfill_.reserve(waiting.shape, waiting.groups, state_);
    }
  }

  void tidy() {
    auto& queue = state_.queue;
    while (state_.first < queue.size() && queue[state_.first].job == kNoIndex) ++state_.first;
    if (state_.first == queue.size()) {
      queue.clear();
      state_.first = looked_at_ = 0;
    } else if (queue.size() > 64 && ++passes_ * 8 > queue.size()) {  // rare enough to cost nothing a pass
      passes_ = 0;
      const auto gone = [](const WaitingJob& waiting) { return waiting.job == kNoIndex; };
      looked_at_ -= static_cast<size_t>(
          std::count_if(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(looked_at_), gone));
      queue.erase(std::remove_if(queue.begin(), queue.end(), gone), queue.end());
      state_.first = 0;
    }
  }

  const Workload& workload_;
  const SimulationOptions& options_;
  const Estimates& estimates_;
  std::vector<int32_t> columns_;
  Placement placement_;
  Backfill backfill_;
  bool backfills_, sorts_;
  SimulationState state_;
  Outcome outcome_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<int32_t> follower_of_, followers_, free_slots_;
  std::vector<NodePart> parts_;
  uint64_t blocked_ = 0;
  size_t looked_at_ = 0, passes_ = 0;
  bool changed_ = false;
  int64_t impossible_ = 0;
};

}  // namespace

Result<Outcome> simulate(const Cluster& cluster, const Workload& workload, Policy policy,
                         const SimulationOptions& options) {
  if (info(policy).preempts) {
    return usage_error("bad-option", fmt::format("policy {} works in rounds", info(policy).name), "",
                       "one of: " + names_of_policies(false));
  }
  if (Status checked = check_cluster(cluster); !checked) return checked.error();
  if (Status checked = check_workload(workload); !checked) return checked.error();
  if (cluster.groups.size() > 64) {
    return Error{"too-many-groups", fmt::format("the cluster has {} platforms", cluster.groups.size()), "the cluster",
                 "at most 64"};
  }
  if (!(options.weight >= 0 && options.weight <= 1) || !(options.tie_ratio >= 0)) {
    return Error{"bad-option", fmt::format("weight {}, tie ratio {}", options.weight, options.tie_ratio), "",
                 "a weight from 0 to 1 and a tie ratio from 0"};
  }
  auto columns = match_platforms(cluster, workload);
  if (!columns) return columns.error();
  auto estimates = Estimates::make(cluster, workload, policy, *columns, options, backfills(policy, options));
  if (!estimates) return estimates.error();
  return Simulation(cluster, workload, policy, options, *estimates, *columns).run();
}

}  // namespace perfcast::fleet
