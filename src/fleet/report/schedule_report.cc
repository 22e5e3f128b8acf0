#include "fleet/report/schedule_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "fleet/policy/policy.h"
#include "fleet/report/schedule_verdict.h"

namespace perfcast::fleet {
namespace {

constexpr size_t kMostPolicyColumns = 9;

using Column = ColumnOf<PolicyRow>;

Column policy_column() { return {"", "policy", Quantity::kText, &PolicyRow::policy}; }

Column middle_column(const char* title, Quantity quantity, double ScheduleSummary::*value, int digits,
                     const char* meaning) {
  return {"", title, quantity, [value](const PolicyRow& row) { return row.middle.*value; }, digits, meaning};
}

Column spread_column(const char* title, double ScheduleSummary::*value, const char* meaning) {
  const auto range = [value](const PolicyRow& row) { return ValueRange{row.lowest.*value, row.highest.*value}; };
  return {"", title, Quantity::kDuration, range, 0, meaning};
}

std::string cost_title(const Cluster& cluster) {
  return cluster.currency.empty() ? "cost" : "cost, " + printable(cluster.currency);
}

// Of jobs that fit nowhere the simulator's own note tells.
std::string counts_text(const ScheduleSummary& s) {
  std::string text;
  for (const auto& [n, what] :
       {std::pair{s.killed, "killed at their limit"}, std::pair{s.cancelled, "gave up before they started"},
        std::pair{s.never_started, "never started"}, std::pair{s.unfinished, "started and never ended"},
        std::pair{s.preemptions, "preemptions"}}) {
    if (n > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, what);
  }
  return text;
}

// Names of platforms are long and policies are many: platforms as rows, and tables of a few policies each.
std::vector<ReportTable> use_by_platform(const ScheduleReport& report, const std::vector<PolicyRow>& rows) {
  std::vector<ReportTable> tables;
  for (size_t first = 0; first < rows.size(); first += kMostPolicyColumns) {
    const auto shown = std::span(rows).subspan(first, std::min(kMostPolicyColumns, rows.size() - first));
    ReportTable table;
    table.caption = "Use by platform, first seed: cores or GPUs held, of those there";
    if (first > 0) table.caption += ", continued";
    table.shows_unknown = true;
    ReportColumn platforms{"", "platform", Quantity::kText, 0, "", {}};
    std::vector<ReportColumn> uses;
    for (const PolicyRow& row : shown) uses.push_back({"", row.policy, Quantity::kShare, 1, "", {}});
    for (size_t g = 0; g < report.cluster.groups.size(); ++g) {
      const NodeGroup& group = report.cluster.groups[g];
      for (const auto& [there, name, use] :
           {std::tuple{group.cores(), group.gpus() > 0 ? ", cores" : "", &GroupSummary::core_utilisation},
            std::tuple{group.gpus(), ", GPUs", &GroupSummary::gpu_utilisation}}) {
        if (there == 0) continue;
        platforms.cells.emplace_back(group.platform + name);
        for (size_t p = 0; p < shown.size(); ++p)
          uses[p].cells.emplace_back(shown[p].runs.front()->summary.groups[g].*use);
      }
    }
    table.columns = std::move(uses);
    table.columns.insert(table.columns.begin(), std::move(platforms));
    if (table.rows() > 0) tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<std::string> given_notes(const ScheduleReport& report) {
  std::vector<std::string> notes;
  if (!report.cluster.note.empty()) notes.push_back("cluster: " + report.cluster.note);
  notes.insert(notes.end(), report.workload.notes.begin(), report.workload.notes.end());
  notes.insert(notes.end(), report.notes.begin(), report.notes.end());
  return notes;
}

// Shortest text that reads back to the same value; nothing where not known.
std::string exact(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string name_at(const std::vector<std::string>& names, int32_t at) {
  return at == kNoIndex ? "" : names[static_cast<size_t>(at)];
}

}  // namespace

std::string to_string(JobState state) {
  switch (state) {
    case JobState::kDone:
      return "done";
    case JobState::kKilled:
      return "killed";
    case JobState::kCancelled:
      return "cancelled";
    case JobState::kImpossible:
      return "impossible";
  }
  return "";
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  const double size = std::abs(seconds);
  if (size < 120) return fmt::format("{:.1f} s", seconds);
  if (size < 7200) return fmt::format("{:.1f} min", seconds / 60);
  if (size < 3 * 86400) return fmt::format("{:.2f} h", seconds / 3600);
  return fmt::format("{:.2f} d", seconds / 86400);
}

Json to_json(const ScheduleReport& report) {
  Json json;
  json["schema"] = kScheduleSchema;
  json["source"] = report.workload.source;
  json["jobs"] = report.workload.size();
  json["seeds"] = seeds_of(report);
  if (!report.cluster.currency.empty()) json["currency"] = report.cluster.currency;
  Json& platforms = json["platforms"] = Json::array();
  for (const NodeGroup& group : report.cluster.groups) {
    Json item;
    item["platform"] = group.platform;
    item["nodes"] = group.nodes;
    item["cores_per_node"] = group.cores_per_node;
    item["gpus_per_node"] = group.gpus_per_node;
    put_known(item, "idle_w_per_node", group.idle_w_per_node);
    put_known(item, "busy_w_per_node", group.busy_w_per_node);
    put_known(item, "price_per_node_hour", group.price_per_node_hour);
    platforms.push_back(std::move(item));
  }
  Json& policies = json["policies"] = Json::array();
  const std::vector<PolicyRow> rows = policy_rows(report);
  for (const PolicyRow& row : rows) {
    const ScheduleSummary& s = row.middle;
    Json item;
    item["policy"] = row.policy;
    for (const SummaryField& field : summary_fields()) put_known(item, field.name, s.*field.value);
    put_known(item, "makespan_to_oracle", row.makespan_to_oracle);
    put_known(item, "makespan_gap_closed", row.makespan_gap_closed);
    put_known(item, "completion_to_oracle", row.completion_to_oracle);
    put_known(item, "completion_gap_closed", row.completion_gap_closed);
    item["done"] = s.done;
    item["killed"] = s.killed;
    item["cancelled"] = s.cancelled;
    item["impossible"] = s.impossible;
    item["never_started"] = s.never_started;
    item["unfinished"] = s.unfinished;
    item["preemptions"] = s.preemptions;
    if (!s.exact) item["exact"] = false;
    Json& groups = item["platforms"] = Json::array();
    for (const GroupSummary& group : row.runs.front()->summary.groups) {
      Json use;
      use["platform"] = group.platform;
      use["jobs"] = group.jobs;
      put_known(use, "core_seconds", group.core_seconds);
      put_known(use, "core_utilisation", group.core_utilisation);
      put_known(use, "gpu_utilisation", group.gpu_utilisation);
      put_known(use, "energy_joules", group.energy_joules);
      put_known(use, "cost", group.cost);
      groups.push_back(std::move(use));
    }
    if (row.runs.size() > 1) {
      Json &low = item["lowest"] = Json::object(), &high = item["highest"] = Json::object();
      for (const SummaryField& field : summary_fields()) {
        put_known(low, field.name, row.lowest.*field.value);
        put_known(high, field.name, row.highest.*field.value);
      }
    }
    item["notes"] = row.runs.front()->outcome.notes;
    policies.push_back(std::move(item));
  }
  const ScheduleVerdict verdict = verdict_of(rows);
  if (verdict.best != nullptr) {
    Json& item = json["verdict"] = Json::object();
    item["policy"] = verdict.best->policy;
    item["against"] = verdict.against->policy;
    put_known(item, "completion_ratio",
              verdict.best->middle.mean_completion_s / verdict.against->middle.mean_completion_s);
    item["seeds_ahead"] = verdict.ahead;
  }
  json["notes"] = given_notes(report);
  return json;
}

std::vector<ReportTable> report_tables(const ScheduleReport& report, const std::vector<PolicyRow>& rows) {
  using enum Quantity;
  using Summary = ScheduleSummary;
  const char* to_oracle = "over that of the oracle, which knows the true times";
  const char* gap = "share of the way from random to the oracle";
  std::vector<ReportTable> tables = {
      table_of<PolicyRow>("How soon the work is done", rows,
                          {policy_column(),
                           middle_column("makespan", kDuration, &Summary::makespan_s, 0, "first arrival to last end"),
                           {"", "/ oracle", kNumber, &PolicyRow::makespan_to_oracle, 3, to_oracle},
                           {"", "gap closed", kShare, &PolicyRow::makespan_gap_closed, 1, gap},
                           middle_column("mean completion", kDuration, &Summary::mean_completion_s, 0, "end - arrival"),
                           {"", "/ oracle", kNumber, &PolicyRow::completion_to_oracle, 3, to_oracle},
                           {"", "gap closed", kShare, &PolicyRow::completion_gap_closed, 1, gap}}),
      table_of<PolicyRow>(
          "How long jobs wait, and how evenly", rows,
          {policy_column(), middle_column("mean wait", kDuration, &Summary::mean_wait_s, 0, "start - ready"),
           middle_column("median", kDuration, &Summary::median_wait_s, 0, "wait that half of the jobs stay under"),
           middle_column("p95", kDuration, &Summary::p95_wait_s, 0, "95% of them"),
           middle_column("p99", kDuration, &Summary::p99_wait_s, 0, "99%, from 100 jobs on"),
           middle_column("slowdown", kNumber, &Summary::mean_bounded_slowdown, 2,
                         "mean bounded slowdown: time in the system over time run, of 10 s at least"),
           middle_column("p99", kNumber, &Summary::p99_bounded_slowdown, 2, "of the slowdown"),
           middle_column("in deadline", kShare, &Summary::deadline_share, 1,
                         "done in time, of the jobs with a deadline"),
           middle_column("fair owners", kNumber, &Summary::owner_fairness, 3,
                         priorities_differ(report.workload)
                             ? "Jain's index of the owners' mean rho, which allows for priorities"
                             : "Jain's index of the owners' mean slowdowns"),
           middle_column("fair jobs", kNumber, &Summary::job_fairness, 3,
                         "Jain's index of the jobs' time in the system over their fastest time"),
           middle_column("mean rho", kNumber, &Summary::mean_finish_time_rho, 2,
                         "finish-time fairness: time in the system over that in a share of the cluster of one's own"),
           middle_column("most", kNumber, &Summary::most_finish_time_rho, 2,
                         "of the job that fares worst; up to 1 nobody loses by sharing")}),
      table_of<PolicyRow>(
          "What is used",
          rows,
          {policy_column(),
           middle_column("utilisation", kShare, &Summary::utilisation, 1,
                         "cores held (GPUs where jobs ask for them) of those there, over the makespan"),
           middle_column("energy", kJoules, &Summary::energy_joules, 0,
                         "idle power of all nodes and what jobs draw above it"),
           middle_column("wasted", kJoules, &Summary::wasted_energy_joules, 0, "of killed jobs"),
           middle_column(cost_title(report.cluster).c_str(), kNumber, &Summary::cost, 2, "all nodes over the makespan"),
           middle_column("used part", kNumber, &Summary::used_cost, 2, "the nodes' shares that jobs held")})};
  for (ReportTable& table : use_by_platform(report, rows)) tables.push_back(std::move(table));
  if (std::ranges::any_of(rows, [](const PolicyRow& row) { return row.runs.size() > 1; })) {
    tables.push_back(table_of<PolicyRow>(
        "Lowest .. highest over the seeds", rows,
        {policy_column(), spread_column("makespan", &Summary::makespan_s, "first arrival to last end"),
         spread_column("mean completion", &Summary::mean_completion_s, "end - arrival"),
         spread_column("mean wait", &Summary::mean_wait_s, "start - ready")}));
  }
  for (ReportTable& table : tables) {
    table.baselines = policy_names([](const PolicyInfo& policy) { return policy.is_reference; });
  }
  return tables;
}

std::vector<std::string> report_notes(const ScheduleReport& report, const std::vector<PolicyRow>& rows) {
  std::vector<std::string> notes;
  for (const PolicyRow& row : rows) {
    if (const std::string counts = counts_text(row.middle); !counts.empty())
      notes.push_back(row.policy + ": " + counts);
    if (!row.middle.exact) {
      notes.push_back(row.policy + ": preempted jobs count where they ran last, as no segments were kept");
    }
    for (const std::string& note : row.runs.front()->outcome.notes) notes.push_back(row.policy + ": " + note);
  }
  const std::vector<std::string> given = given_notes(report);
  notes.insert(notes.end(), given.begin(), given.end());
  return notes;
}

std::string to_text(const ScheduleReport& report) {
  const std::vector<PolicyRow> rows = policy_rows(report);
  const size_t seeds = seeds_of(report).size();
  std::string text;
  for (const std::string& line : verdict_of(rows).lines) text += wrapped(line, 110, "", "  ") + "\n";
  if (!text.empty()) text += "\n";
  text += fmt::format("{} jobs of {}, {} nodes with {} cores", report.workload.size(),
                      report.workload.source.empty() ? "the workload" : printable(report.workload.source),
                      report.cluster.nodes(), report.cluster.cores());
  if (report.cluster.gpus() > 0) text += fmt::format(" and {} GPUs", report.cluster.gpus());
  text += seeds > 1 ? fmt::format("; medians over {} seeds\n", seeds) : "\n";
  for (const ReportTable& table : report_tables(report, rows)) {
    text += "\n" + lower_case(table.caption.substr(0, 1)) + table.caption.substr(1) + "\n" + rows_text(table);
  }
  const std::vector<std::string> notes = report_notes(report, rows);
  if (!notes.empty()) text += "\n";
  for (const std::string& note : notes) text += "note: " + printable(note) + "\n";
  return text;
}

void write_jobs_csv(const ScheduleReport& report, const TextSink& sink) {
  sink(
      "policy,job,program,owner,state,platform,cores,gpus,arrival_s,ready_s,start_s,end_s,wait_s,run_s,forecast_s,"
      "bounded_slowdown,energy_joules\n");
  const Workload& workload = report.workload;
  for (const PolicyRow& row : policy_rows(report)) {
    const Outcome& outcome = row.runs.front()->outcome;
    const std::vector<JobEnergy> energies = job_energies(report.cluster, workload, outcome);
    for (size_t i = 0; i < outcome.jobs.size(); ++i) {
      const JobRequest& request = workload.jobs[i];
      const JobResult& result = outcome.jobs[i];
      const bool started = !std::isnan(result.start_s);
      std::string platform;
      double forecast_s = kUnknown;
      if (result.group != kNoIndex) {
        platform = report.cluster.groups[static_cast<size_t>(result.group)].platform;
        const auto column = std::ranges::find(workload.platforms, platform);
        if (!workload.forecast_s.empty() && column != workload.platforms.end()) {
          forecast_s = workload.forecasts(i)[static_cast<size_t>(column - workload.platforms.begin())];
        }
      }
      sink(csv_line({row.policy, std::to_string(request.id), name_at(workload.programs, request.program),
                     name_at(workload.owners, request.owner),
                     started || result.state == JobState::kCancelled || result.state == JobState::kImpossible
                         ? to_string(result.state)
                         : "never started",
                     platform, std::to_string(request.cores), std::to_string(request.gpus), exact(request.arrival_s),
                     exact(result.ready_s), exact(result.start_s), exact(result.end_s), exact(wait_of(request, result)),
                     started ? exact(result.run_s) : "", exact(forecast_s), exact(bounded_slowdown_of(request, result)),
                     started ? exact(energies[i].total_joules()) : ""}));
    }
  }
}

void write_segments_csv(const ScheduleReport& report, const TextSink& sink) {
  sink("policy,job,platform,node,cores,gpus,start_s,end_s\n");
  for (const PolicyRow& row : policy_rows(report)) {
    const Outcome& outcome = row.runs.front()->outcome;
    for (const Segment& segment : outcome.segments) {
      const JobRequest& job = report.workload.jobs[static_cast<size_t>(segment.job)];
      const std::string& platform = report.cluster.groups[static_cast<size_t>(segment.group)].platform;
      const auto line = [&](const std::string& node, int64_t cores, int64_t gpus) {
        sink(csv_line({row.policy, std::to_string(job.id), platform, node, std::to_string(cores), std::to_string(gpus),
                       exact(segment.start_s), exact(segment.end_s)}));
      };
      if (segment.parts == 0) line("", job.cores, job.gpus);
      for (uint32_t k = 0; k < segment.parts; ++k) {
        const NodePart& part = outcome.parts[segment.first_part + k];
        line(std::to_string(part.node), part.cores, part.gpus);
      }
    }
  }
}

}  // namespace perfcast::fleet
