#pragma once
// What a schedule came to: times, use, energy, cost, fairness. Figures that can't be known are NaN, never 0.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fleet/jobs/cluster.h"
#include "fleet/jobs/outcome.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

// Jobs shorter than this count as this long in a bounded slowdown (Feitelson et al., JSSPP 1997).
inline constexpr double kSlowdownBound_s = 10;
// Below so many values a 99th percentile says nothing.
inline constexpr size_t kFewestForP99 = 100;

// Over the makespan. NaN where the group has none of it, or nothing ran.
struct GroupSummary {
  std::string platform;
  int64_t jobs = 0;         // that ran here last
  double core_seconds = 0;  // held by jobs
  double gpu_seconds = 0;
  double core_utilisation = kUnknown;  // held / there, in [0, 1]
  double gpu_utilisation = kUnknown;
  double energy_joules = kUnknown;  // of its nodes, idle power included
  double cost = kUnknown;           // of its nodes over the makespan
};

struct ScheduleSummary {
  std::string policy;
  int64_t jobs = 0, done = 0, killed = 0, cancelled = 0, impossible = 0;
  int64_t never_started = 0;  // though they could have run: a policy that starves them, or a run cut short
  int64_t unfinished = 0;     // started, without an end
  int64_t preemptions = 0;
  // False where jobs were preempted and no segments were kept: what a job used counts where it ran last.
  bool exact = true;

  double makespan_s = kUnknown;  // first arrival to last end
  // start - ready, of the jobs that started.
  double mean_wait_s = kUnknown, median_wait_s = kUnknown, p95_wait_s = kUnknown, p99_wait_s = kUnknown;
  // max(1, (end - ready) / max(run, 10 s)) of the jobs that ended, killed ones too; run is the time it ran, on the
  // platform it ran on. Without preemption end - ready = wait + run.
  double mean_bounded_slowdown = kUnknown, p99_bounded_slowdown = kUnknown;
  double mean_completion_s = kUnknown;  // end - arrival, of the jobs that ended

  double utilisation = kUnknown;  // of all cores, or of all GPUs where jobs ask for GPUs
  double core_utilisation = kUnknown, gpu_utilisation = kUnknown;

  // Idle power of every node over the makespan + what jobs draw above it (JobEnergy).
  double energy_joules = kUnknown;
  double wasted_energy_joules = kUnknown;  // of killed jobs, their share of idle power included
  double unused_energy_joules = kUnknown;  // idle power that no job held

  double cost = kUnknown;       // of every node over the makespan, used or not
  double used_cost = kUnknown;  // of the nodes' shares that jobs held, while they held them

  double deadline_share = kUnknown;  // done in time, of all jobs that have a deadline
  // Jain's index (sum x)^2 / (n sum x^2), 1 where all fare alike: over owners' mean bounded slowdowns, from two owners
  // on, or where jobs differ in priority over owners' mean rho, which allows for it; and over the finish-time slowdowns
  // of the jobs done: (end - ready) / time on the fastest platform of the cluster.
  double owner_fairness = kUnknown, job_fairness = kUnknown;
  double worst_owner_slowdown = kUnknown, best_owner_slowdown = kUnknown;
  double most_finish_slowdown = kUnknown, least_finish_slowdown = kUnknown, mean_finish_slowdown = kUnknown;
  // Finish-time fairness of the jobs done: time in the system over that in a share of their own (finish_time.h).
  double mean_finish_time_rho = kUnknown, most_finish_time_rho = kUnknown;

  std::vector<GroupSummary> groups;  // as Cluster::groups
};

// One pass over the results and one over the segments.
ScheduleSummary summarise(const Cluster& cluster, const Workload& workload, const Outcome& outcome);

// Energy of one job. Above idle: the workload's own figure where it has one, drawn evenly over the time the job takes
// there, so that a killed, preempted or unfinished job has the part of it that it ran; otherwise the share of the node
// that it held (GPUs where it asks for GPUs, cores otherwise) of busy - idle power. What it shares a host with is thus
// never counted to it, and the shares of all jobs and `unused_energy_joules` add up to the total. Where jobs with GPUs
// and jobs without share a node, what each adds to its power counts.
struct JobEnergy {
  double above_idle_joules = 0;
  double idle_share_joules = 0;  // its share of the idle power of its nodes while it ran
  double total_joules() const { return above_idle_joules + idle_share_joules; }
};
std::vector<JobEnergy> job_energies(const Cluster& cluster, const Workload& workload, const Outcome& outcome);

double wait_of(const JobRequest& request, const JobResult& result);              // NaN: never started
double bounded_slowdown_of(const JobRequest& request, const JobResult& result);  // NaN: never ended

double jain_index(std::span<const double> values);  // NaN where empty
bool priorities_differ(const Workload& workload);

// The numbers of a summary by their names in perfcast.schedule/1, in the order of a report.
struct SummaryField {
  const char* name;
  double ScheduleSummary::*value;
};
std::span<const SummaryField> summary_fields();

}  // namespace perfcast::fleet
