#pragma once
// Policies side by side: as JSON, as tables for people, and job by job as CSV.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/report/table.h"
#include "fleet/compare/policy_runs.h"
#include "fleet/jobs/outcome.h"

namespace perfcast::fleet {

inline constexpr const char* kScheduleSchema = "perfcast.schedule/1";

// Takes text piece by piece, so that a million lines need not be held.
using TextSink = std::function<void(std::string_view)>;

// For people: one row for each policy, or for each platform with a column for each policy.
std::vector<ReportTable> report_tables(const ScheduleReport& report, const std::vector<PolicyRow>& rows);
// What became of jobs that did not just run, and what policies, the cluster's file and readers had to say.
std::vector<std::string> report_notes(const ScheduleReport& report, const std::vector<PolicyRow>& rows);

Json to_json(const ScheduleReport& report);
std::string to_text(const ScheduleReport& report);

// One line per job and policy of the first seed. Columns: policy, job, program, owner, state, platform, cores, gpus,
// arrival_s, ready_s, start_s, end_s, wait_s, run_s, forecast_s (on that platform), bounded_slowdown, energy_joules
// (share of idle power included).
void write_jobs_csv(const ScheduleReport& report, const TextSink& sink);
// One line per part of a segment: policy, job, platform, node (blank where the policy names none), cores, gpus,
// start_s, end_s. Only the header where no segments were kept.
void write_segments_csv(const ScheduleReport& report, const TextSink& sink);

std::string to_string(JobState state);      // "done", "killed", "cancelled", "impossible"
std::string duration_text(double seconds);  // "45.2 s", "12.5 min", "3.42 h", "6.1 d"; "-" where not known

}  // namespace perfcast::fleet
