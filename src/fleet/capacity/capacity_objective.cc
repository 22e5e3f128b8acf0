#include "fleet/capacity/capacity_objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/statistics.h"
#include "base/text.h"
#include "fleet/jobs/job_power.h"
#include "fleet/jobs/summary.h"

namespace perfcast::fleet {
namespace {

constexpr double kSame = 1e-9;  // a value this close to its target meets it

Status check_target(const ServiceObjective& objective) {
  const ServiceMetricInfo& metric = info(objective.metric);
  const auto bad = [&](std::string expected) {
    return Error{"bad-objective", fmt::format("a target of {}", objective.target), metric.name, std::move(expected)};
  };
  if (!(objective.target >= 0) || std::isinf(objective.target)) return bad("a number from 0");
  if (metric.at_least && objective.target > 1) return bad("a share from 0 to 1");
  if (objective.metric == ServiceMetric::kMeanBoundedSlowdown && objective.target < 1) {
    return bad("at least 1: no job is faster than alone");
  }
  return {};
}

size_t column_of(const Workload& workload, const std::string& platform) {
  const auto found = std::find(workload.platforms.begin(), workload.platforms.end(), platform);
  return static_cast<size_t>(found - workload.platforms.begin());
}

// Means over the time from the first measured arrival to the last one: queues that drain afterwards are no load.
void measure_nodes(const Cluster& cluster, const Workload& workload, const Outcome& outcome, size_t first,
                   PlanMeasure& measure) {
  double from_s = workload.jobs[first].arrival_s, to_s = workload.jobs.back().arrival_s;
  if (to_s <= from_s) {
    for (const JobResult& job : outcome.jobs) to_s = job.end_s > to_s ? job.end_s : to_s;
  }
  const double span_s = to_s - from_s;
  measure.utilisation.assign(cluster.groups.size(), kUnknown);
  if (!(span_s > 0)) return;
  const bool any_gpus =
      std::any_of(workload.jobs.begin(), workload.jobs.end(), [](const JobRequest& job) { return job.gpus > 0; });
  const auto counts_gpus = [&](const NodeGroup& group) {
    return group.cores_per_node == 0 || (any_gpus && group.gpus_per_node > 0);
  };
  std::vector<size_t> columns;
  std::vector<double> held(cluster.groups.size(), 0.0);
  double power_w = 0;
  for (const NodeGroup& group : cluster.groups) {
    columns.push_back(column_of(workload, group.platform));
    power_w += static_cast<double>(group.nodes) * group.idle_w_per_node;
  }
  for (size_t i = 0; i < outcome.jobs.size(); ++i) {
    const JobResult& job = outcome.jobs[i];
    const double part_s = std::min(job.end_s, to_s) - std::max(job.start_s, from_s);
    if (!(part_s > 0)) continue;
    const auto g = static_cast<size_t>(job.group);
    const NodeGroup& group = cluster.groups[g];
    power_w += power_above_idle_w(workload, i, group, static_cast<int32_t>(columns[g])) * part_s / span_s;
    held[g] += part_s * (counts_gpus(group) ? workload.jobs[i].gpus : workload.jobs[i].cores);
  }
  measure.average_power_w = power_w;
  for (size_t g = 0; g < held.size(); ++g) {
    const NodeGroup& group = cluster.groups[g];
    const auto units = static_cast<double>(counts_gpus(group) ? group.gpus() : group.cores());
    measure.utilisation[g] = held[g] / (units * span_s);
  }
}

}  // namespace

const std::vector<ServiceMetricInfo>& service_metrics() {
  static const std::vector<ServiceMetricInfo> kAll = {
      {ServiceMetric::kP99Wait, "p99_wait_s", "p99 wait", true, false},
      {ServiceMetric::kMeanWait, "mean_wait_s", "mean wait", true, false},
      {ServiceMetric::kMeanBoundedSlowdown, "mean_bounded_slowdown", "mean bounded slowdown", false, false},
      {ServiceMetric::kDeadlineShare, "deadline_share", "deadlines met", false, true},
  };
  return kAll;
}

const ServiceMetricInfo& info(ServiceMetric metric) { return service_metrics()[static_cast<size_t>(metric)]; }

Result<ServiceObjective> service_objective(const std::string& name, double target) {
  std::vector<std::string> names;
  for (const ServiceMetricInfo& metric : service_metrics()) {
    if (metric.name == name) {
      const ServiceObjective objective{metric.metric, target};
      if (Status checked = check_target(objective); !checked) return checked.error();
      return objective;
    }
    names.emplace_back(metric.name);
  }
  return Error{"bad-objective", fmt::format("'{}' is no service objective", printable(name)), "", join(names, ", ")};
}

double PlanMeasure::value(ServiceMetric metric) const {
  switch (metric) {
    case ServiceMetric::kP99Wait:
      return p99_wait_s;
    case ServiceMetric::kMeanWait:
      return mean_wait_s;
    case ServiceMetric::kMeanBoundedSlowdown:
      return mean_bounded_slowdown;
    case ServiceMetric::kDeadlineShare:
      return deadline_share;
  }
  return kUnknown;
}

size_t first_measured(const Workload& workload, double warmup_share) {
  return static_cast<size_t>(warmup_share * static_cast<double>(workload.size()));
}

PlanMeasure measure_plan(const Cluster& cluster, const Workload& workload, const Outcome& outcome,
                         double warmup_share) {
  PlanMeasure measure;
  const size_t first = first_measured(workload, warmup_share);
  std::vector<double> waits;
  double slowdowns = 0;
  int64_t ended = 0, deadlines = 0, in_time = 0;
  for (size_t i = 0; i < outcome.jobs.size(); ++i) {
    const JobResult& job = outcome.jobs[i];
    const JobRequest& request = workload.jobs[i];
    if (job.state == JobState::kImpossible) ++measure.impossible;
    if (i < first) continue;
    if (!std::isnan(request.deadline_s)) {
      ++deadlines;
      in_time += job.state == JobState::kDone && job.end_s <= request.deadline_s ? 1 : 0;
    }
    if (job.state == JobState::kCancelled && !std::isnan(job.ready_s)) {
      waits.push_back(std::max(0.0, request.cancelled_s - job.ready_s));
    }
    if (std::isnan(job.start_s)) continue;
    waits.push_back(job.start_s - job.ready_s);
    slowdowns += std::max(1.0, (job.end_s - job.ready_s) / std::max(job.run_s, kSlowdownBound_s));
    ++ended;
  }
  if (!waits.empty()) {
    measure.mean_wait_s = mean(waits);
    if (waits.size() >= kFewestForP99) measure.p99_wait_s = quantile(std::move(waits), 0.99);
  }
  if (ended > 0) measure.mean_bounded_slowdown = slowdowns / static_cast<double>(ended);
  if (deadlines > 0) measure.deadline_share = static_cast<double>(in_time) / static_cast<double>(deadlines);
  if (first < workload.size()) measure_nodes(cluster, workload, outcome, first, measure);
  return measure;
}

bool meets(const ServiceObjective& objective, double value) {
  if (info(objective.metric).at_least) return value >= objective.target - kSame;
  return value <= objective.target * (1 + kSame) + kSame;
}

double shortfall(const ServiceObjective& objective, double value) {
  if (std::isnan(value)) return std::numeric_limits<double>::infinity();
  if (meets(objective, value)) return 0;
  if (info(objective.metric).at_least) return objective.target - value;
  return (value - objective.target) / std::max(objective.target, 1e-3);  // a target of 0 s counts as 1 ms
}

Status check_objectives(std::span<const ServiceObjective> objectives, const Workload& workload, double warmup_share,
                        std::span<const double> times) {
  if (objectives.empty()) {
    return Error{"no-objective", "nothing says how well jobs are to be served", "", "at least one service objective"};
  }
  const size_t first = first_measured(workload, warmup_share);
  const size_t candidates = workload.size() == 0 ? 0 : times.size() / workload.size();
  for (const ServiceObjective& objective : objectives) {
    if (Status checked = check_target(objective); !checked) return checked;
    if (objective.metric == ServiceMetric::kP99Wait && workload.size() - first < kFewestForP99) {
      return Error{"too-few-jobs", fmt::format("{} jobs after the warm-up can't tell a p99", workload.size() - first),
                   "p99_wait_s", fmt::format("at least {}, better many thousand", kFewestForP99)};
    }
    if (objective.metric != ServiceMetric::kDeadlineShare) continue;
    int64_t deadlines = 0, reachable = 0;
    for (size_t i = first; i < workload.size(); ++i) {
      const JobRequest& job = workload.jobs[i];
      if (std::isnan(job.deadline_s)) continue;
      ++deadlines;
      const auto alone = times.subspan(i * candidates, candidates);
      reachable += std::any_of(alone.begin(), alone.end(),
                               [&](double time_s) { return job.arrival_s + time_s <= job.deadline_s; })
                       ? 1
                       : 0;
    }
    if (deadlines == 0) {
      return Error{"no-deadline", "none of the measured jobs has a deadline", "deadline_share", "jobs with deadlines"};
    }
    const double share = static_cast<double>(reachable) / static_cast<double>(deadlines);
    if (!meets(objective, share)) {
      return infeasible_error(
          "unreachable-objective",
          fmt::format("only {:.2f}% of the jobs meet their deadline even without any wait on the fastest "
                      "platform that they fit",
                      100 * share),
          "deadline_share", fmt::format("at most {:.4f}, later deadlines, or faster platforms", share));
    }
  }
  return {};
}

}  // namespace perfcast::fleet
