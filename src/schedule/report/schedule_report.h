#pragma once
// Policies side by side: as JSON, as tables for people, and job by job as CSV.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "schedule/jobs/summary.h"

namespace perfcast {

inline constexpr const char* kScheduleSchema = "perfcast.schedule/1";
inline constexpr const char* kRandomPolicy = "random";
inline constexpr const char* kOraclePolicy = "oracle";

// Takes text piece by piece, so that a million lines need not be held.
using TextSink = std::function<void(std::string_view)>;

struct PolicyRun {
  uint64_t seed = 1;
  ScheduleSummary summary;
  Outcome outcome;  // of `workload`; may be left empty for all seeds but the first, which figures and lines show
};

struct ScheduleReport {
  Cluster cluster;
  Workload workload;
  std::vector<PolicyRun> runs;  // each policy with the same seeds; policies in the order of the report
  std::vector<std::string> notes;
};

// One policy over its seeds.
struct PolicyRow {
  std::string policy;
  std::vector<const PolicyRun*> runs;  // by seed, as they came
  ScheduleSummary middle;              // of every number the median over the seeds; counts of the first seed
  ScheduleSummary lowest, highest;     // numbers only
  // Against the same seed of the other policy, the median; NaN without that policy. The share of the gap is
  // (random - this) / (random - oracle), below 0 where it is worse than random; NaN where the oracle gains nothing.
  double makespan_to_oracle = kUnknown, makespan_gap_closed = kUnknown;
  double completion_to_oracle = kUnknown, completion_gap_closed = kUnknown;
};
// Points into the report, which must outlive the rows.
std::vector<PolicyRow> policy_rows(const ScheduleReport& report);
std::vector<uint64_t> seeds_of(const ScheduleReport& report);  // in order of appearance

// What a table for people holds: the policy's name first (or another, as its title says), then numbers as text.
struct ReportTable {
  std::string caption;
  std::vector<std::string> titles, meanings;  // of the columns after the name; a meaning may be blank
  std::vector<std::vector<std::string>> rows;
  std::string row_title = "policy";
};
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
std::string energy_text(double joules);     // "1.23 MJ"

}  // namespace perfcast
