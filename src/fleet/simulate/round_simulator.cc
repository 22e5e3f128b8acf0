#include "fleet/simulate/round_simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

namespace perfcast::fleet {
namespace {

constexpr double kLeastSeconds = 1e-6;  // stands for a run time of 0, so that speeds are finite

// A job that has come and not ended.
struct Active {
  size_t job = 0;
  double remaining = 1;
  int32_t running = kNoIndex;             // group of the last round
  size_t segment = SIZE_MAX;              // its open one
  std::vector<double> due_s, received_s;  // [groups]
  // For finish-time fairness: what the work done up to the last allocation would have taken in a share of its own, what
  // was left then, and its speed in such a share since.
  double isolated_s = 0, allocated_remaining = 1, isolated_speed = 0;
};

struct Candidate {
  double priority, due_s;
  size_t active, group;
};

class RoundSimulator {
 public:
  RoundSimulator(const Cluster& cluster, const Workload& workload, Policy policy, const RoundOptions& options)
      : cluster_(cluster), workload_(workload), policy_(policy), options_(options), groups_(cluster.groups.size()) {}

  Result<Outcome> run() {
    if (Status prepared = prepare(); !prepared) return prepared.error();
    for (int64_t round = 0; open_ > 0; ++round) {
      if (round >= options_.most_rounds) {
        return infeasible_error("too-many-rounds",
                                fmt::format("{} rounds of {} s and jobs are left", round, options_.round_s),
                                workload_.source, "longer rounds");
      }
      if (active_.empty()) {
        if (waiting_.empty()) break;  // can't be: who isn't active waits, or for one that is
        now_ = std::max(now_, waiting_.top().first);
      }
      admit();
      if (active_.empty()) continue;
      if (changed_) {
        if (Status allocated = allocate(); !allocated) return allocated.error();
      }
      assign();
      run_round();
      now_ += options_.round_s;
    }
    if (impossible_ > 0) {
      outcome_.notes.push_back(fmt::format("{} job{} fit no node, or can run on no platform of the cluster",
                                           impossible_, impossible_ == 1 ? "" : "s"));
    }
    if (rescued_ > 0) {
      outcome_.notes.push_back(fmt::format("{} rounds went to jobs that the policy had left out", rescued_));
    }
    return std::move(outcome_);
  }

 private:
  Status prepare() {
    if (!(options_.round_s > 0) || std::isinf(options_.round_s)) {
      return usage_error("bad-usage", fmt::format("rounds of {} s", options_.round_s), "round_s", "a time above 0");
    }
    if (Status checked = check_cluster(cluster_); !checked) return checked;
    if (Status checked = check_workload(workload_); !checked) return checked;
    const auto columns = match_platforms(cluster_, workload_);
    if (!columns) return columns.error();
    outcome_.policy = info(policy_).name;
    const size_t n = workload_.size();
    outcome_.jobs.resize(n);
    for (const NodeGroup& group : cluster_.groups) {
      problem_.cores.push_back(static_cast<double>(group.cores()));
      problem_.gpus.push_back(static_cast<double>(group.gpus()));
    }
    problem_.groups = groups_;
    if (Status timed = fill_times(*columns); !timed) return timed;

    successors_.resize(n);
    open_ = options_.measured_jobs == 0 ? n : std::min(n, options_.measured_jobs);
    measured_ = open_;
    for (size_t i = 0; i < n; ++i) {
      const int32_t after = workload_.jobs[i].after;
      if (after == kNoIndex) {
        waiting_.emplace(workload_.jobs[i].arrival_s, i);
      } else {
        successors_[static_cast<size_t>(after)].push_back(i);
      }
    }
    return {};
  }

  // [n x groups] the true times and those that the policy sees.
  Status fill_times(const std::vector<int32_t>& columns) {
    const size_t n = workload_.size();
    true_s_.assign(n * groups_, kUnknown);
    seen_s_.assign(n * groups_, kUnknown);
    for (size_t i = 0; i < n; ++i) {
      const JobRequest& job = workload_.jobs[i];
      bool runs = false, seen = false;
      for (size_t g = 0; g < groups_; ++g) {
        const auto column = static_cast<size_t>(columns[g]);
        const double time = workload_.times(i)[column];
        if (std::isnan(time) || !fits_when_empty(job, cluster_.groups[g])) continue;
        runs = true;
        true_s_[i * groups_ + g] = std::max(time, kLeastSeconds);
        seen_s_[i * groups_ + g] = true_s_[i * groups_ + g];
        if (info(policy_).uses_forecasts() && !workload_.forecast_s.empty()) {
          const double forecast = workload_.forecasts(i)[column];
          seen_s_[i * groups_ + g] = std::isnan(forecast) ? forecast : std::max(forecast, kLeastSeconds);
        }
        seen = seen || !std::isnan(seen_s_[i * groups_ + g]);
      }
      if (!runs) {
        outcome_.jobs[i].state = JobState::kImpossible;
        ++impossible_;
      }
      if (!runs || seen) continue;
      if (!(job.limit_s > 0)) {
        return infeasible_error("no-forecast", fmt::format("{} needs a forecast", outcome_.policy),
                                fmt::format("job {}", job.id),
                                "a forecast on a platform that the job fits, or a limit");
      }
      for (size_t g = 0; g < groups_; ++g) {
        if (!std::isnan(true_s_[i * groups_ + g])) seen_s_[i * groups_ + g] = job.limit_s;
      }
    }
    return {};
  }

  void admit() {
    while (!waiting_.empty() && waiting_.top().first <= now_) {
      const auto [ready_s, i] = waiting_.top();
      waiting_.pop();
      const JobRequest& job = workload_.jobs[i];
      JobResult& result = outcome_.jobs[i];
      result.ready_s = ready_s;
      if (result.state == JobState::kImpossible) {
        end(i, ready_s);
        continue;
      }
      if (job.cancelled_s <= now_) {
        cancel(i);
        continue;
      }
      Active& active = active_.emplace_back();
      active.job = i;
      active.due_s.assign(groups_, 0);
      active.received_s.assign(groups_, 0);
      changed_ = true;
    }
    const auto gives_up = [&](const Active& active) {
      const JobRequest& job = workload_.jobs[active.job];
      if (!std::isnan(outcome_.jobs[active.job].start_s) || !(job.cancelled_s <= now_)) return false;
      cancel(active.job);
      return true;
    };
    changed_ = std::erase_if(active_, gives_up) > 0 || changed_;
    if (changed_) {
      // Jobs that waited for others come out of order.
      std::stable_sort(active_.begin(), active_.end(), [&](const Active& a, const Active& b) {
        return std::pair(outcome_.jobs[a.job].ready_s, a.job) < std::pair(outcome_.jobs[b.job].ready_s, b.job);
      });
    }
  }

  void cancel(size_t i) {
    outcome_.jobs[i].state = JobState::kCancelled;
    end(i, std::max(workload_.jobs[i].cancelled_s, outcome_.jobs[i].ready_s));
  }

  // Nothing more comes of job i; those that waited for it may come.
  void end(size_t i, double at_s) {
    if (i < measured_) --open_;
    for (const size_t next : successors_[i]) {
      const JobRequest& job = workload_.jobs[next];
      waiting_.emplace(std::max(job.arrival_s, at_s + job.think_s), next);
    }
  }

  Status allocate() {
    problem_.jobs.clear();
    problem_.seconds.clear();
    for (Active& active : active_) {
      const JobRequest& job = workload_.jobs[active.job];
      if (active.isolated_speed > 0) {
        active.isolated_s += (active.allocated_remaining - active.remaining) / active.isolated_speed;
      }
      active.allocated_remaining = active.remaining;
      problem_.jobs.push_back({job.priority, static_cast<double>(job.gpus > 0 ? job.gpus : job.cores),
                               job.gpus > 0 ? Resource::kGpus : Resource::kCores, active.remaining, active.running,
                               now_ - outcome_.jobs[active.job].ready_s, active.isolated_s});
      const auto row = seen_s_.begin() + static_cast<std::ptrdiff_t>(active.job * groups_);
      problem_.seconds.insert(problem_.seconds.end(), row, row + static_cast<std::ptrdiff_t>(groups_));
    }
    if (info(policy_).counts_own_share) {
      const std::vector<double> speeds = isolated_speeds(problem_);
      for (size_t a = 0; a < active_.size(); ++a) active_[a].isolated_speed = speeds[a];
    }
    auto shares = allocate_shares(policy_, options_.left_over, problem_);
    if (!shares) return shares.error();
    shares_ = std::move(*shares);
    changed_ = false;
    return {};
  }

  // given_[active] = group of this round, or kNoIndex.
  void assign() {
    candidates_.clear();
    for (size_t a = 0; a < active_.size(); ++a) {
      for (size_t g = 0; g < groups_; ++g) {
        const double share = shares_[a * groups_ + g];
        if (share <= 0) continue;
        double& due_s = active_[a].due_s[g];
        due_s += share * options_.round_s;
        const double received_s = active_[a].received_s[g];
        const double priority = received_s > 0 ? due_s / received_s : std::numeric_limits<double>::infinity();
        candidates_.push_back({priority, due_s, a, g});
      }
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& x, const Candidate& y) {
      if (x.priority != y.priority) return x.priority > y.priority;
      if (x.due_s != y.due_s) return x.due_s > y.due_s;
      return std::pair(x.active, x.group) < std::pair(y.active, y.group);
    });
    free_cores_ = problem_.cores;
    free_gpus_ = problem_.gpus;
    given_.assign(active_.size(), kNoIndex);
    bool any = false;
    for (const Candidate& candidate : candidates_) any = take(candidate.active, candidate.group) || any;
    if (any) return;
    // No share anywhere: rather than wait for ever, whoever fits runs.
    ++rescued_;
    for (size_t a = 0; a < active_.size(); ++a) {
      for (size_t g = 0; g < groups_; ++g) take(a, g);
    }
  }

  bool take(size_t a, size_t g) {
    const JobRequest& job = workload_.jobs[active_[a].job];
    if (given_[a] != kNoIndex || std::isnan(true_s_[active_[a].job * groups_ + g])) return false;
    double& room = job.gpus > 0 ? free_gpus_[g] : free_cores_[g];
    const auto units = static_cast<double>(job.gpus > 0 ? job.gpus : job.cores);
    if (room < units) return false;
    room -= units;
    given_[a] = static_cast<int32_t>(g);
    return true;
  }

  void run_round() {
    ended_.clear();
    for (size_t a = 0; a < active_.size(); ++a) {
      Active& active = active_[a];
      const int32_t group = given_[a];
      if (active.running != kNoIndex && active.running != group) ++outcome_.preemptions;
      if (active.running != group) active.segment = SIZE_MAX;
      active.running = group;
      if (group != kNoIndex && run_job(active, static_cast<size_t>(group))) ended_.push_back(a);
    }
    for (const size_t a : ended_) end(active_[a].job, outcome_.jobs[active_[a].job].end_s);
    if (ended_.empty()) return;
    changed_ = true;
    size_t still_active = 0;
    for (size_t a = 0, e = 0; a < active_.size(); ++a) {
      if (e < ended_.size() && ended_[e] == a) {
        ++e;
        continue;
      }
      if (still_active != a) active_[still_active] = std::move(active_[a]);
      ++still_active;
    }
    active_.resize(still_active);
  }

  // True: the job ended in this round.
  bool run_job(Active& active, size_t group) {
    JobResult& result = outcome_.jobs[active.job];
    const double time = true_s_[active.job * groups_ + group], left_s = active.remaining * time;
    // NaN: no limit
    const double allowed_s = options_.kill_at_limit ? workload_.jobs[active.job].limit_s - result.run_s : kUnknown;
    double run_s = options_.round_s;
    bool ends = false;
    if (left_s <= run_s * (1 + 1e-12)) {
      run_s = left_s;
      ends = true;
    }
    if (allowed_s < run_s * (1 - 1e-12)) {
      run_s = std::max(allowed_s, 0.0);
      ends = true;
      result.state = JobState::kKilled;
    }
    if (std::isnan(result.start_s)) result.start_s = now_;
    result.run_s += run_s;
    result.group = static_cast<int32_t>(group);
    active.remaining = ends ? 0 : std::max(0.0, active.remaining - run_s / time);
    active.received_s[group] += options_.round_s;
    if (options_.segments) add_segment(active, group, now_ + run_s);
    if (ends) result.end_s = now_ + run_s;
    return ends;
  }

  void add_segment(Active& active, size_t group, double end_s) {
    if (active.segment == SIZE_MAX) {
      active.segment = outcome_.segments.size();
      outcome_.segments.push_back({static_cast<int32_t>(active.job), static_cast<int32_t>(group), now_, end_s, 0, 0});
    }
    outcome_.segments[active.segment].end_s = end_s;
  }

  const Cluster& cluster_;
  const Workload& workload_;
  const Policy policy_;
  const RoundOptions options_;
  const size_t groups_;

  double now_ = 0;
  size_t open_ = 0, measured_ = 0;  // of the first `measured_` jobs those that haven't ended
  bool changed_ = true;             // the set of jobs, since the last allocation
  int64_t rescued_ = 0, impossible_ = 0;
  std::vector<double> true_s_, seen_s_;  // [n x groups]
  std::vector<std::vector<size_t>> successors_;
  using Arrival = std::pair<double, size_t>;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> waiting_;  // known when they come
  std::vector<Active> active_;
  ShareProblem problem_;
  std::vector<double> shares_;  // [active x groups]
  std::vector<Candidate> candidates_;
  std::vector<double> free_cores_, free_gpus_;
  std::vector<int32_t> given_;
  std::vector<size_t> ended_;
  Outcome outcome_;
};

}  // namespace

Result<Outcome> simulate_rounds(const Cluster& cluster, const Workload& workload, Policy policy,
                                const RoundOptions& options) {
  if (!info(policy).preempts) {
    return usage_error("bad-option", fmt::format("policy {} does not work in rounds", info(policy).name), "",
                       "one of: " + names_of_policies(true));
  }
  return RoundSimulator(cluster, workload, policy, options).run();
}

}  // namespace perfcast::fleet
