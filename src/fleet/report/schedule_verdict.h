#pragma once
// What a comparison of policies comes to: which one serves the jobs soonest, by how much, and why.

#include <string>
#include <vector>

#include "fleet/compare/policy_runs.h"

namespace perfcast::fleet {

struct ScheduleVerdict {
  // Of the policies that can be had and end the most jobs the one under which they complete soonest, or within 5% of
  // that and with a much shorter p99 of waits; and what it is
  // held against: what sites use, easy or else fcfs; else the next best. Null where fewer than two can be compared.
  // They point into the rows.
  const PolicyRow *best = nullptr, *against = nullptr;
  size_t seeds = 0, ahead = 0;     // of the seeds, those under which jobs complete sooner under `best`
  std::vector<std::string> lines;  // for people, the answer first; empty where nothing is compared
};

ScheduleVerdict verdict_of(const std::vector<PolicyRow>& rows);

}  // namespace perfcast::fleet
