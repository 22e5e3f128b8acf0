#include "fleet/jobs/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "fleet/testing/small_schedule.h"

namespace perfcast::fleet {
namespace {

using testing::DoubleEq;
using testing::IsNan;

TEST(Summarise, SmallScheduleByHand) {
  const ScheduleSummary s = summarise(small_cluster(), small_workload(), small_outcome());
  EXPECT_EQ(s.policy, "fcfs");
  EXPECT_EQ(s.jobs, 5);
  EXPECT_EQ(s.done, 2);
  EXPECT_EQ(s.killed, 1);
  EXPECT_EQ(s.cancelled, 1);
  EXPECT_EQ(s.impossible, 1);
  EXPECT_EQ(s.never_started + s.unfinished, 0);
  EXPECT_TRUE(s.exact);
  EXPECT_DOUBLE_EQ(s.makespan_s, 220);
  EXPECT_DOUBLE_EQ(s.mean_wait_s, 10.0 / 3);
  EXPECT_DOUBLE_EQ(s.median_wait_s, 0);
  EXPECT_DOUBLE_EQ(s.p95_wait_s, 9);
  EXPECT_THAT(s.p99_wait_s, IsNan());
  EXPECT_DOUBLE_EQ(s.mean_bounded_slowdown, 3.25 / 3);  // the killed one: 50 / 40
  EXPECT_DOUBLE_EQ(s.mean_completion_s, 350.0 / 3);
  EXPECT_DOUBLE_EQ(s.groups[0].core_seconds, 480);
  EXPECT_DOUBLE_EQ(s.groups[0].core_utilisation, 480.0 / 1760);
  EXPECT_DOUBLE_EQ(s.groups[1].core_utilisation, 1600.0 / 1760);
  EXPECT_DOUBLE_EQ(s.utilisation, 2080.0 / 3520);
  EXPECT_THAT(s.gpu_utilisation, IsNan());
  EXPECT_EQ(s.groups[0].jobs, 2);
  // Idle 2 x 100 W x 220 s + 50 W x 220 s; above it 25 W a core on slow, 10 W a core on fast.
  EXPECT_DOUBLE_EQ(s.groups[0].energy_joules, 44000 + 12000);
  EXPECT_DOUBLE_EQ(s.groups[1].energy_joules, 11000 + 16000);
  EXPECT_DOUBLE_EQ(s.energy_joules, 83000);
  EXPECT_DOUBLE_EQ(s.wasted_energy_joules, 2000 + 2000);
  EXPECT_DOUBLE_EQ(s.unused_energy_joules, 55000 - 12000 - 10000);
  EXPECT_DOUBLE_EQ(s.cost, 0.44 + 0.44);
  EXPECT_DOUBLE_EQ(s.used_cost, 0.12 + 0.4);
  EXPECT_DOUBLE_EQ(s.deadline_share, 1.0 / 3);  // one late, one given up
  EXPECT_DOUBLE_EQ(s.owner_fairness, 2.125 * 2.125 / (2 * (1.125 * 1.125 + 1)));
  EXPECT_DOUBLE_EQ(s.worst_owner_slowdown, 1.125);
  EXPECT_DOUBLE_EQ(s.best_owner_slowdown, 1);
  EXPECT_DOUBLE_EQ(s.job_fairness, 9.0 / 10);  // 100 s for what takes 50 s on the fast one, and 200 s for 200 s
  EXPECT_DOUBLE_EQ(s.most_finish_slowdown, 2);
  EXPECT_DOUBLE_EQ(s.least_finish_slowdown, 1);
}

TEST(Summarise, IsTheSameWithoutSegmentsWhereNothingWasPreempted) {
  Outcome without = small_outcome();
  without.segments.clear();
  without.parts.clear();
  const ScheduleSummary a = summarise(small_cluster(), small_workload(), small_outcome());
  const ScheduleSummary b = summarise(small_cluster(), small_workload(), without);
  for (const SummaryField& field : summary_fields()) {
    if (std::isnan(a.*field.value)) {
      EXPECT_THAT(b.*field.value, IsNan()) << field.name;
    } else {
      EXPECT_DOUBLE_EQ(a.*field.value, b.*field.value) << field.name;
    }
  }
  EXPECT_TRUE(b.exact);
  without.preemptions = 1;
  EXPECT_FALSE(summarise(small_cluster(), small_workload(), without).exact);
}

TEST(Summarise, TheWorkloadsOwnEnergyCountsByTheTimeRun) {
  Workload workload = small_workload();
  //                        fast, slow
  workload.energy_joules = {1, 5000, 1, 1600, 30000, 1, 1, 1, 1, 1};
  const ScheduleSummary s = summarise(small_cluster(), workload, small_outcome());
  EXPECT_DOUBLE_EQ(s.energy_joules, 55000 + 5000 + 800 + 30000);  // half of the killed job's 1600 J
  EXPECT_DOUBLE_EQ(s.wasted_energy_joules, 800 + 2000);
  const std::vector<JobEnergy> jobs = job_energies(small_cluster(), workload, small_outcome());
  EXPECT_DOUBLE_EQ(jobs[1].above_idle_joules, 800);
  EXPECT_DOUBLE_EQ(jobs[1].total_joules(), 2800);
  EXPECT_DOUBLE_EQ(jobs[3].total_joules(), 0);
  workload.energy_joules[5 - 2] = kUnknown;  // of that job alone: from the node's power again
  EXPECT_DOUBLE_EQ(job_energies(small_cluster(), workload, small_outcome())[1].above_idle_joules, 2000);
}

TEST(Summarise, WhatIsNotKnownIsAbsent) {
  Cluster cluster = small_cluster();
  cluster.groups[0].busy_w_per_node = kUnknown;
  ScheduleSummary s = summarise(cluster, small_workload(), small_outcome());
  EXPECT_THAT(s.energy_joules, IsNan());
  EXPECT_THAT(s.wasted_energy_joules, IsNan());
  EXPECT_DOUBLE_EQ(s.groups[1].energy_joules, 27000);
  EXPECT_DOUBLE_EQ(s.cost, 0.88);
  cluster = small_cluster();
  cluster.groups[1].price_per_node_hour = kUnknown;
  s = summarise(cluster, small_workload(), small_outcome());
  EXPECT_THAT(s.cost, IsNan());
  EXPECT_THAT(s.used_cost, IsNan());
  EXPECT_DOUBLE_EQ(s.groups[0].cost, 0.44);
  EXPECT_DOUBLE_EQ(s.energy_joules, 83000);
}

TEST(Summarise, NothingRanAtAll) {
  Outcome outcome = small_outcome();
  for (JobResult& job : outcome.jobs) job = {};
  outcome.segments.clear();
  const ScheduleSummary s = summarise(small_cluster(), small_workload(), outcome);
  EXPECT_EQ(s.never_started, 5);
  for (const SummaryField& field : summary_fields()) {
    if (field.value == &ScheduleSummary::deadline_share) continue;
    EXPECT_THAT(s.*field.value, IsNan()) << field.name;
  }
  EXPECT_DOUBLE_EQ(s.deadline_share, 0);
  EXPECT_EQ(summarise({}, {}, {}).jobs, 0);
}

TEST(Summarise, PreemptedJobsCountWhereTheyRan) {
  const Cluster cluster = small_cluster();
  Workload workload = small_workload();
  workload.jobs.resize(1);
  Outcome outcome;
  outcome.policy = "las";
  outcome.preemptions = 1;
  outcome.jobs = {{5, 50, 0, 30, 1, JobState::kDone}};
  outcome.segments = {{0, 0, 5, 15, 0, 0}, {0, 1, 30, 50, 0, 0}};
  const ScheduleSummary s = summarise(cluster, workload, outcome);
  EXPECT_TRUE(s.exact);
  EXPECT_DOUBLE_EQ(s.groups[0].core_seconds, 40);
  EXPECT_DOUBLE_EQ(s.groups[1].core_seconds, 80);
  EXPECT_DOUBLE_EQ(s.mean_bounded_slowdown, 50.0 / 30);
  EXPECT_DOUBLE_EQ(s.energy_joules, 250 * 50 + 40 * 25 + 80 * 10);
  EXPECT_DOUBLE_EQ(job_energies(cluster, workload, outcome)[0].idle_share_joules, 10 * 100 + 20 * 50 / 2.0);
}

TEST(Summarise, GpuJobsHoldGpus) {
  Cluster cluster = small_cluster();
  cluster.groups[1].gpus_per_node = 4;
  Workload workload = small_workload();
  workload.jobs[2].gpus = 1;
  workload.jobs[2].cores = 0;
  const ScheduleSummary s = summarise(cluster, workload, small_outcome());
  EXPECT_DOUBLE_EQ(s.gpu_utilisation, 200.0 / (4 * 220));
  EXPECT_DOUBLE_EQ(s.utilisation, s.gpu_utilisation);
  EXPECT_DOUBLE_EQ(s.groups[1].core_utilisation, 0);
  EXPECT_THAT(s.groups[0].gpu_utilisation, IsNan());
  EXPECT_DOUBLE_EQ(s.groups[1].energy_joules, 11000 + 80 / 4.0 * 200);
}

TEST(Summarise, ShortJobsAreBoundedAndP99NeedsAHundred) {
  JobRequest request;
  EXPECT_DOUBLE_EQ(bounded_slowdown_of(request, {30, 32, 0, 2, 0, JobState::kDone}), 3.2);
  EXPECT_DOUBLE_EQ(bounded_slowdown_of(request, {0, 2, 0, 2, 0, JobState::kDone}), 1);
  EXPECT_THAT(bounded_slowdown_of(request, {}), IsNan());
  Workload workload = small_workload();
  const Cluster cluster = small_cluster();
  for (const int n : {99, 100}) {
    Outcome outcome;
    workload.jobs.assign(static_cast<size_t>(n), {});
    workload.time_s.assign(static_cast<size_t>(n) * 2, 1);
    for (int i = 0; i < n; ++i) outcome.jobs.push_back({n - i - 1.0, n - i + 0.0, 0, 1, 0, JobState::kDone});
    const ScheduleSummary s = summarise(cluster, workload, outcome);
    EXPECT_DOUBLE_EQ(s.median_wait_s, (n - 1) / 2.0);
    if (n < 100) {
      EXPECT_THAT(s.p99_wait_s, IsNan());
    } else {
      EXPECT_NEAR(s.p99_wait_s, 0.99 * 99, 1e-9);
    }
  }
}

TEST(JainIndex, IsOneForAllAlikeAndAnNthForOneAlone) {
  EXPECT_THAT(jain_index(std::vector<double>{3, 3, 3}), DoubleEq(1));
  EXPECT_THAT(jain_index(std::vector<double>{0, 7, 0, 0}), DoubleEq(0.25));
  EXPECT_THAT(jain_index({}), IsNan());
}

// Whatever ran where: the jobs' energies and what nobody held add up to the total, and so does the use.
TEST(Summarise, EnergyOfJobsAndUnusedAddUp) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Cluster cluster = small_cluster();
    Workload workload = small_workload();
    workload.jobs.clear();
    workload.time_s.clear();
    Outcome outcome;
    double core_seconds = 0;
    for (int i = 0; i < 50; ++i) {
      JobRequest request;
      request.arrival_s = i;
      request.cores = static_cast<int32_t>(1 + random.below(4));
      const double run = 1 + 100 * random.uniform();
      const double start = i + 50 * random.uniform();
      const auto group = static_cast<int32_t>(random.below(2));
      const JobState state = random.below(5) == 0 ? JobState::kKilled : JobState::kDone;
      workload.jobs.push_back(request);
      workload.time_s.insert(workload.time_s.end(), {run, run});
      outcome.jobs.push_back({start, start + run, request.arrival_s, run, group, state});
      core_seconds += run * request.cores;
    }
    if (seed % 2 == 0) workload.energy_joules.assign(100, 1234);
    const ScheduleSummary s = summarise(cluster, workload, outcome);
    double total = s.unused_energy_joules, wasted = 0;
    const std::vector<JobEnergy> jobs = job_energies(cluster, workload, outcome);
    for (size_t i = 0; i < jobs.size(); ++i) {
      total += jobs[i].total_joules();
      if (outcome.jobs[i].state == JobState::kKilled) wasted += jobs[i].total_joules();
    }
    EXPECT_NEAR(total, s.energy_joules, 1e-9 * s.energy_joules);
    EXPECT_NEAR(wasted, s.wasted_energy_joules, 1e-9 * s.energy_joules);
    EXPECT_NEAR(s.groups[0].energy_joules + s.groups[1].energy_joules, s.energy_joules, 1e-6);
    EXPECT_NEAR(s.groups[0].core_seconds + s.groups[1].core_seconds, core_seconds, 1e-6);
  }
}

}  // namespace
}  // namespace perfcast::fleet
