#include "fleet/jobs/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fleet/jobs/finish_time.h"
#include "fleet/jobs/job_power.h"
#include "fleet/jobs/stretches.h"

namespace perfcast::fleet {
namespace {

constexpr double kSecondsPerHour = 3600;

double ready_of(const JobRequest& request, const JobResult& result) {
  return std::isnan(result.ready_s) ? request.arrival_s : result.ready_s;
}

// Column of the workload for each group; kNoIndex: it has none of that name.
std::vector<int32_t> columns_of(const Cluster& cluster, const Workload& workload) {
  std::vector<int32_t> columns;
  columns.reserve(cluster.groups.size());
  for (const NodeGroup& group : cluster.groups) {
    const auto found = std::find(workload.platforms.begin(), workload.platforms.end(), group.platform);
    columns.push_back(found == workload.platforms.end() ? kNoIndex
                                                        : static_cast<int32_t>(found - workload.platforms.begin()));
  }
  return columns;
}

// Type 7 of Hyndman and Fan, as base/statistics.h, without a sort: reorders `values`.
double take_quantile(std::vector<double>& values, double probability) {
  if (values.empty()) return kUnknown;
  const double at = probability * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), middle, values.end());
  const double share = at - static_cast<double>(below);
  if (share <= 0 || below + 1 == values.size()) return *middle;
  return *middle + share * (*std::min_element(middle + 1, values.end()) - *middle);
}

double take_p99(std::vector<double>& values) {
  return values.size() < kFewestForP99 ? kUnknown : take_quantile(values, 0.99);
}

struct Mean {
  double sum = 0;
  int64_t n = 0;
  void add(double value) {
    sum += value;
    ++n;
  }
  double value() const { return n == 0 ? kUnknown : sum / static_cast<double>(n); }
};

// Of those that have any.
std::vector<double> means_of(const std::vector<Mean>& owners) {
  std::vector<double> means;
  for (const Mean& owner : owners) {
    if (owner.n > 0) means.push_back(owner.value());
  }
  return means;
}

struct Span {
  double first_arrival_s = std::numeric_limits<double>::infinity();
  double last_end_s = -std::numeric_limits<double>::infinity();
  double makespan_s() const { return last_end_s >= first_arrival_s ? last_end_s - first_arrival_s : kUnknown; }
};

void count(ScheduleSummary& summary, const JobResult& result) {
  const bool started = !std::isnan(result.start_s);
  switch (result.state) {
    case JobState::kCancelled:
      ++summary.cancelled;
      return;
    case JobState::kImpossible:
      ++summary.impossible;
      return;
    case JobState::kDone:
    case JobState::kKilled:
      break;
  }
  if (!started) {
    ++summary.never_started;
  } else if (std::isnan(result.end_s)) {
    ++summary.unfinished;
  } else {
    ++(result.state == JobState::kKilled ? summary.killed : summary.done);
  }
}

// All that the results alone tell.
Span summarise_times(const Workload& workload, const Outcome& outcome, const std::vector<int32_t>& columns,
                     ScheduleSummary& summary) {
  Span span;
  std::vector<double> waits, slowdowns;
  waits.reserve(outcome.jobs.size());
  slowdowns.reserve(outcome.jobs.size());
  std::vector<Mean> owners(workload.owners.size());
  Mean wait, slowdown, completion, finish;
  double finish_squares = 0;
  int64_t with_deadline = 0, in_time = 0;
  for (size_t i = 0; i < outcome.jobs.size(); ++i) {
    const JobRequest& request = workload.jobs[i];
    const JobResult& result = outcome.jobs[i];
    span.first_arrival_s = std::min(span.first_arrival_s, request.arrival_s);
    count(summary, result);
    if (std::isfinite(request.deadline_s)) {
      ++with_deadline;
      if (result.state == JobState::kDone && result.end_s <= request.deadline_s) ++in_time;
    }
    if (std::isnan(result.start_s)) continue;
    waits.push_back(wait_of(request, result));
    wait.add(waits.back());
    if (result.group != kNoIndex) ++summary.groups[static_cast<size_t>(result.group)].jobs;
    if (std::isnan(result.end_s)) continue;
    span.last_end_s = std::max(span.last_end_s, result.end_s);
    completion.add(result.end_s - request.arrival_s);
    slowdowns.push_back(bounded_slowdown_of(request, result));
    slowdown.add(slowdowns.back());
    if (request.owner != kNoIndex) owners[static_cast<size_t>(request.owner)].add(slowdowns.back());
    if (result.state != JobState::kDone) continue;
    double best_s = kUnknown;
    const std::span<const double> times = workload.times(i);
    for (const int32_t column : columns) {
      if (column != kNoIndex) best_s = std::fmin(best_s, times[static_cast<size_t>(column)]);
    }
    if (!(best_s > 0)) continue;
    const double ratio = (result.end_s - ready_of(request, result)) / best_s;
    finish.add(ratio);
    finish_squares += ratio * ratio;
    summary.most_finish_slowdown = std::fmax(summary.most_finish_slowdown, ratio);
    summary.least_finish_slowdown = std::fmin(summary.least_finish_slowdown, ratio);
  }
  summary.mean_wait_s = wait.value();
  summary.median_wait_s = take_quantile(waits, 0.5);
  summary.p95_wait_s = take_quantile(waits, 0.95);
  summary.p99_wait_s = take_p99(waits);
  summary.mean_bounded_slowdown = slowdown.value();
  summary.p99_bounded_slowdown = take_p99(slowdowns);
  summary.mean_completion_s = completion.value();
  if (with_deadline > 0) summary.deadline_share = static_cast<double>(in_time) / static_cast<double>(with_deadline);
  summary.mean_finish_slowdown = finish.value();
  if (finish.n > 0 && finish_squares > 0) {
    summary.job_fairness = finish.sum * finish.sum / (static_cast<double>(finish.n) * finish_squares);
  }
  const std::vector<double> means = means_of(owners);
  if (means.size() >= 2) {
    summary.owner_fairness = jain_index(means);
    const auto [least, most] = std::minmax_element(means.begin(), means.end());
    summary.best_owner_slowdown = *least;
    summary.worst_owner_slowdown = *most;
  }
  return span;
}

void summarise_finish_times(const Cluster& cluster, const Workload& workload, const Outcome& outcome,
                            ScheduleSummary& summary) {
  std::vector<Mean> owners(workload.owners.size());
  Mean all;
  const std::vector<double> rhos = finish_time_rhos(cluster, workload, outcome);
  for (size_t i = 0; i < rhos.size(); ++i) {
    if (std::isnan(rhos[i])) continue;
    all.add(rhos[i]);
    summary.most_finish_time_rho = std::fmax(summary.most_finish_time_rho, rhos[i]);
    const int32_t owner = workload.jobs[i].owner;
    if (owner != kNoIndex) owners[static_cast<size_t>(owner)].add(rhos[i]);
  }
  summary.mean_finish_time_rho = all.value();
  if (!priorities_differ(workload)) return;
  const std::vector<double> means = means_of(owners);
  summary.owner_fairness = means.size() >= 2 ? jain_index(means) : kUnknown;
}

void summarise_use(const Cluster& cluster, const Workload& workload, const Outcome& outcome, ScheduleSummary& summary) {
  for_each_stretch(outcome, [&](const Segment& stretch, double seconds) {
    const JobRequest& job = workload.jobs[static_cast<size_t>(stretch.job)];
    GroupSummary& group = summary.groups[static_cast<size_t>(stretch.group)];
    group.core_seconds += seconds * job.cores;
    group.gpu_seconds += seconds * job.gpus;
  });
  double cores_s = 0, gpus_s = 0;
  for (size_t i = 0; i < cluster.groups.size(); ++i) {
    const NodeGroup& group = cluster.groups[i];
    GroupSummary& use = summary.groups[i];
    const double there_s = static_cast<double>(group.cores()) * summary.makespan_s;
    const double gpus_there_s = static_cast<double>(group.gpus()) * summary.makespan_s;
    if (there_s > 0) use.core_utilisation = use.core_seconds / there_s;
    if (gpus_there_s > 0) use.gpu_utilisation = use.gpu_seconds / gpus_there_s;
    cores_s += use.core_seconds;
    gpus_s += use.gpu_seconds;
  }
  const double there_s = static_cast<double>(cluster.cores()) * summary.makespan_s;
  const double gpus_there_s = static_cast<double>(cluster.gpus()) * summary.makespan_s;
  if (there_s > 0) summary.core_utilisation = cores_s / there_s;
  if (gpus_there_s > 0) summary.gpu_utilisation = gpus_s / gpus_there_s;
  const bool by_gpu = gpus_there_s > 0 && std::any_of(workload.jobs.begin(), workload.jobs.end(),
                                                      [](const JobRequest& job) { return job.gpus > 0; });
  summary.utilisation = by_gpu ? summary.gpu_utilisation : summary.core_utilisation;
}

void summarise_energy_and_cost(const Cluster& cluster, const Workload& workload, const Outcome& outcome,
                               ScheduleSummary& summary) {
  std::vector<double> above(cluster.groups.size(), 0), held_idle(cluster.groups.size(), 0);
  double wasted = 0, used_cost = 0;
  const std::vector<int32_t> columns = columns_of(cluster, workload);
  for_each_stretch(outcome, [&](const Segment& stretch, double seconds) {
    const auto job = static_cast<size_t>(stretch.job), at = static_cast<size_t>(stretch.group);
    const NodeGroup& group = cluster.groups[at];
    const double node_seconds = seconds * nodes_held(workload.jobs[job], group);
    const double dynamic = seconds * power_above_idle_w(workload, job, group, columns[at]);
    above[at] += dynamic;
    held_idle[at] += node_seconds * group.idle_w_per_node;
    if (outcome.jobs[job].state == JobState::kKilled) wasted += dynamic + node_seconds * group.idle_w_per_node;
    used_cost += node_seconds / kSecondsPerHour * group.price_per_node_hour;
  });
  if (std::isnan(summary.makespan_s)) return;
  double energy = 0, unused = 0, cost = 0;
  for (size_t i = 0; i < cluster.groups.size(); ++i) {
    const NodeGroup& group = cluster.groups[i];
    if (group.nodes == 0) continue;
    const double node_seconds = static_cast<double>(group.nodes) * summary.makespan_s;
    const double idle = node_seconds * group.idle_w_per_node;
    summary.groups[i].energy_joules = idle + above[i];
    summary.groups[i].cost = node_seconds / kSecondsPerHour * group.price_per_node_hour;
    energy += idle + above[i];
    unused += idle - held_idle[i];
    cost += summary.groups[i].cost;
  }
  summary.energy_joules = energy;
  summary.unused_energy_joules = unused;
  summary.wasted_energy_joules = std::isnan(energy) ? kUnknown : wasted;
  summary.cost = cost;
  summary.used_cost = used_cost;
}

}  // namespace

double wait_of(const JobRequest& request, const JobResult& result) {
  return result.start_s - ready_of(request, result);
}

double bounded_slowdown_of(const JobRequest& request, const JobResult& result) {
  if (std::isnan(result.end_s) || std::isnan(result.start_s)) return kUnknown;
  return std::max(1.0, (result.end_s - ready_of(request, result)) / std::max(result.run_s, kSlowdownBound_s));
}

double jain_index(std::span<const double> values) {
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  if (values.empty()) return kUnknown;
  return squares > 0 ? sum * sum / (static_cast<double>(values.size()) * squares) : 1;
}

bool priorities_differ(const Workload& workload) {
  return std::any_of(workload.jobs.begin(), workload.jobs.end(),
                     [&](const JobRequest& job) { return job.priority != workload.jobs.front().priority; });
}

std::vector<JobEnergy> job_energies(const Cluster& cluster, const Workload& workload, const Outcome& outcome) {
  std::vector<JobEnergy> energies(outcome.jobs.size());
  const std::vector<int32_t> columns = columns_of(cluster, workload);
  for_each_stretch(outcome, [&](const Segment& stretch, double seconds) {
    const auto job = static_cast<size_t>(stretch.job), at = static_cast<size_t>(stretch.group);
    const NodeGroup& group = cluster.groups[at];
    energies[job].above_idle_joules += seconds * power_above_idle_w(workload, job, group, columns[at]);
    energies[job].idle_share_joules += seconds * group.idle_w_per_node * nodes_held(workload.jobs[job], group);
  });
  return energies;
}

ScheduleSummary summarise(const Cluster& cluster, const Workload& workload, const Outcome& outcome) {
  ScheduleSummary summary;
  summary.policy = outcome.policy;
  summary.jobs = static_cast<int64_t>(outcome.jobs.size());
  summary.preemptions = outcome.preemptions;
  summary.exact = outcome.preemptions == 0 || !outcome.segments.empty();
  for (const NodeGroup& group : cluster.groups) {
    GroupSummary item;
    item.platform = group.platform;
    summary.groups.push_back(std::move(item));
  }
  summary.makespan_s = summarise_times(workload, outcome, columns_of(cluster, workload), summary).makespan_s();
  summarise_finish_times(cluster, workload, outcome, summary);
  summarise_use(cluster, workload, outcome, summary);
  summarise_energy_and_cost(cluster, workload, outcome, summary);
  return summary;
}

std::span<const SummaryField> summary_fields() {
  using S = ScheduleSummary;
  static constexpr std::array kFields = {SummaryField{"makespan_s", &S::makespan_s},
                                         SummaryField{"mean_completion_s", &S::mean_completion_s},
                                         SummaryField{"mean_wait_s", &S::mean_wait_s},
                                         SummaryField{"median_wait_s", &S::median_wait_s},
                                         SummaryField{"p95_wait_s", &S::p95_wait_s},
                                         SummaryField{"p99_wait_s", &S::p99_wait_s},
                                         SummaryField{"mean_bounded_slowdown", &S::mean_bounded_slowdown},
                                         SummaryField{"p99_bounded_slowdown", &S::p99_bounded_slowdown},
                                         SummaryField{"utilisation", &S::utilisation},
                                         SummaryField{"core_utilisation", &S::core_utilisation},
                                         SummaryField{"gpu_utilisation", &S::gpu_utilisation},
                                         SummaryField{"energy_joules", &S::energy_joules},
                                         SummaryField{"wasted_energy_joules", &S::wasted_energy_joules},
                                         SummaryField{"unused_energy_joules", &S::unused_energy_joules},
                                         SummaryField{"cost", &S::cost},
                                         SummaryField{"used_cost", &S::used_cost},
                                         SummaryField{"deadline_share", &S::deadline_share},
                                         SummaryField{"owner_fairness", &S::owner_fairness},
                                         SummaryField{"worst_owner_slowdown", &S::worst_owner_slowdown},
                                         SummaryField{"best_owner_slowdown", &S::best_owner_slowdown},
                                         SummaryField{"job_fairness", &S::job_fairness},
                                         SummaryField{"mean_finish_slowdown", &S::mean_finish_slowdown},
                                         SummaryField{"most_finish_slowdown", &S::most_finish_slowdown},
                                         SummaryField{"least_finish_slowdown", &S::least_finish_slowdown},
                                         SummaryField{"mean_finish_time_rho", &S::mean_finish_time_rho},
                                         SummaryField{"most_finish_time_rho", &S::most_finish_time_rho}};
  return kFields;
}

}  // namespace perfcast::fleet
