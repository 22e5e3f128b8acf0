#pragma once
// The schedule of small_schedule.h as three policies' runs, for tests.

#include "fleet/compare/policy_runs.h"
#include "fleet/testing/small_schedule.h"

namespace perfcast::fleet {

inline PolicyRun small_run(const char* policy, uint64_t seed, double makespan_s, double completion_s) {
  PolicyRun item;
  item.seed = seed;
  item.outcome = small_outcome(policy);
  item.summary = summarise(small_cluster(), small_workload(), item.outcome);
  item.summary.makespan_s = makespan_s;
  item.summary.mean_completion_s = completion_s;
  return item;
}

inline ScheduleReport small_report() {
  ScheduleReport report{small_cluster(), small_workload(), {}, {"a note"}};
  report.runs = {small_run("random", 1, 200, 90), small_run("fcfs", 1, 150, 100), small_run("oracle", 1, 100, 90)};
  return report;
}

}  // namespace perfcast::fleet
