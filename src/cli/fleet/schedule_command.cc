// perfcast schedule simulate: the same jobs under several policies, in virtual time.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/fleet/schedule_inputs.h"
#include "cli/option_table.h"
#include "cli/shared/amount_option.h"
#include "cli/shared/duration_option.h"
#include "fleet/plan/simulate_jobs.h"
#include "fleet/report/chrome_trace.h"
#include "fleet/report/error_sweep_report.h"
#include "fleet/report/schedule_html.h"
#include "fleet/report/schedule_report.h"
#include "fleet/traces/job_table.h"

namespace perfcast::cli {
namespace {

struct SimulateArguments {
  ScheduleArguments inputs;
  std::vector<std::string> policies, errors;
  fleet::ComparisonOptions comparison;
  bool no_kill = false;
  std::string report, trace, trace_policy, jobs_csv, segments_csv, save_jobs;
};

Status check_outputs(const SimulateArguments& arguments, const CommonOptions& common) {
  std::vector<std::pair<std::string, std::string>> files = {{"--output", common.output}};
  for (const auto& [option, file] : {std::pair{"--report", arguments.report},
                                     {"--trace", arguments.trace},
                                     {"--jobs-csv", arguments.jobs_csv},
                                     {"--segments-csv", arguments.segments_csv},
                                     {"--save-jobs", arguments.save_jobs}}) {
    if (file.empty()) continue;
    for (const auto& [other, taken] : files) {
      if (!same_file(taken, file)) continue;
      return usage_error("bad-usage", fmt::format("{} and {} would go to the same place, {}", other, option, file),
                         option, "another file");
    }
    files.emplace_back(option, file);
  }
  return {};
}

Status write_side_files(const SimulateArguments& arguments, const fleet::SimulatedJobs& simulated) {
  const fleet::ScheduleReport& report = simulated.report;
  std::string text;
  const fleet::TextSink append = [&text](std::string_view piece) { text += piece; };
  const auto write = [&text](const std::string& file) {
    Status status = write_file_atomically(file, text);
    text.clear();
    return status;
  };
  if (!arguments.save_jobs.empty()) {
    if (Status status = fleet::write_job_table(report.workload, arguments.save_jobs); !status) return status;
  }
  if (!arguments.jobs_csv.empty()) {
    fleet::write_jobs_csv(report, append);
    if (Status status = write(arguments.jobs_csv); !status) return status;
  }
  if (!arguments.segments_csv.empty()) {
    fleet::write_segments_csv(report, append);
    if (Status status = write(arguments.segments_csv); !status) return status;
  }
  if (!arguments.trace.empty()) {
    const fleet::PolicyRun* shown = &report.runs.front();
    for (const fleet::PolicyRun& run : report.runs) {
      if (run.seed == report.runs.front().seed && run.summary.policy == arguments.trace_policy) shown = &run;
    }
    fleet::write_chrome_trace(report.cluster, report.workload, shown->outcome, append);
    if (Status status = write(arguments.trace); !status) return status;
  }
  if (!arguments.report.empty()) {
    if (Status status = write_file_atomically(
            arguments.report, fleet::schedule_html(report, simulated.sweep.value_or(fleet::ErrorSweep())));
        !status)
      return status;
  }
  return {};
}

// Empty: all that can be used.
Result<std::vector<fleet::Policy>> policies_of(const std::vector<std::string>& texts) {
  std::vector<fleet::Policy> policies;
  const std::vector<std::string> names = list_of(texts);
  if (names == std::vector<std::string>{"all"}) return policies;
  for (const std::string& name : names) {
    const auto policy = fleet::policy_named(name);
    if (!policy) return policy.error();
    policies.push_back(*policy);
  }
  return policies;
}

Status check_trace_policy(SimulateArguments& arguments, const std::vector<fleet::Policy>& policies) {
  if (arguments.trace_policy.empty()) {
    arguments.trace_policy = fleet::info(policies.empty() ? fleet::Policy::kMinimumCompletion : policies.front()).name;
    return {};
  }
  const auto traced = fleet::policy_named(arguments.trace_policy);
  if (!traced) return traced.error();
  if (policies.empty() || std::find(policies.begin(), policies.end(), *traced) != policies.end()) return {};
  return usage_error("bad-usage", "'" + arguments.trace_policy + "' is not simulated", "--trace-policy",
                     "one of those in --policies");
}

int run_simulate(const CommandContext& context, SimulateArguments& arguments) {
  const CommonOptions& common = context.options;
  if (Status status = check_outputs(arguments, common); !status) return report_error(status.error(), common);
  const auto errors = parse_ratios(arguments.errors, "--forecast-error", "0,0.1,0.2,0.5,1");
  if (!errors) return report_error(errors.error(), common);
  fleet::ComparisonOptions& options = arguments.comparison;
  const auto policies = policies_of(arguments.policies);
  if (!policies) return report_error(policies.error(), common);
  options.policies = *policies;
  options.seed = common.seed;
  options.threads = common.threads;
  options.simulation.kill_at_limit = !arguments.no_kill;
  options.keep_segments = !arguments.report.empty() || !arguments.trace.empty() || !arguments.segments_csv.empty();
  if (Status traced = check_trace_policy(arguments, *policies); !traced) return report_error(traced.error(), common);
  auto stream = read_job_stream(common, arguments.inputs);
  if (!stream) return report_error(stream.error(), common);
  say_impossible_jobs(common, *stream, stream->cluster.groups);

  ProgressLine progress(common);
  options.progress = [&progress](const std::string& text) { progress.show(text); };
  auto simulated = fleet::simulate_jobs({std::move(*stream), options, *errors});
  if (!simulated) return report_error(simulated.error(), common);
  std::string text;
  if (common.json) {
    Json json = to_json(simulated->report);
    put_known(json, "offered_load", simulated->offered_load);
    if (simulated->sweep) json["error_sweep"] = to_json(*simulated->sweep);
    text = to_text(json);
  } else {
    fleet::ScheduleReport shown = simulated->report;
    if (common.quiet) shown.notes.clear();
    text = to_text(shown);
    if (simulated->sweep) text += "\n" + to_text(*simulated->sweep);
  }
  // The result first: a figure that can't be written must not cost it.
  if (const int code = write_result(text, common); code != kExitDone) return code;
  if (Status status = write_side_files(arguments, *simulated); !status) {
    CommonOptions how = common;
    how.json = common.json && common.output != "-";  // stdout holds the result already
    return report_error(status.error(), how);
  }
  return kExitDone;
}

std::string policy_list() {
  std::string text = "Policies (* uses forecasts, ~ works in rounds):\n";
  for (const fleet::PolicyInfo& policy : fleet::policies()) {
    text += fmt::format("  {:<16} {}{}  {}\n", policy.name, policy.uses_forecasts() ? "*" : " ",
                        policy.preempts ? "~" : " ", policy.text);
  }
  return text;
}

}  // namespace

void add_schedule_command(CLI::App& app, CommandContext& context) {
  CLI::App* group = add_verb(app, {"schedule",
                                   "Simulates how scheduling policies place jobs on a cluster.",
                                   "",
                                   {"perfcast schedule simulate --synthetic --nodes \"EPYC 7763=4x64\"",
                                    "perfcast schedule simulate --swf trace.swf --cluster cluster.json"},
                                   "schedule"});
  group->require_subcommand(1);
  auto arguments = std::make_shared<SimulateArguments>();
  CLI::App* verb =
      add_verb(*group, {"simulate",
                        "Runs the same jobs under several policies, in virtual time.",
                        "",
                        {"perfcast schedule simulate --swf trace.swf --cluster cluster.json",
                         "perfcast schedule simulate --profile last --nodes \"aws c7i.xlarge=4\" --report r.html"},
                        "schedule"});
  verb->footer(policy_list());
  add_schedule_options(*verb, arguments->inputs);
  add_basic(*verb, "--policies", arguments->policies, "NAME,...",
            "Compares these policies. --help-all lists all policies. Default: all that the jobs allow.");
  add_advanced(*verb, "--seeds", arguments->comparison.seeds, "N",
               "Repeats the simulation this often, with seeds --seed, --seed + 1, ...")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_basic(*verb, "--forecast-error", arguments->errors, "RATIO,...",
            "Simulates again with forecasts that are wrong by these ratios on average, such as 0,0.1,0.2.");
  add_advanced(*verb, "--backfill", arguments->comparison.simulation.backfill,
               "Adds EASY backfilling to every policy that does not work in rounds.");
  add_advanced(*verb, "--no-kill", arguments->no_kill, "Lets jobs run past their time limits.");
  takes_amount(add_advanced(*verb, "--tie", arguments->comparison.simulation.tie_ratio, "RATIO",
                            "Treats two forecasts as equal if they differ by at most this share. The job may then go "
                            "to either platform."))
      ->capture_default_str();
  add_advanced(*verb, "--policy-weight,--weight", arguments->comparison.simulation.weight, "SHARE",
               "The weight of energy or cost in the policies mct-energy and mct-cost, from 0 to 1.")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  takes_duration(add_advanced(*verb, "--round", arguments->comparison.rounds.round_s, "TIME",
                              "The length of a round of the policies that work in rounds."))
      ->capture_default_str();
  add_basic(*verb, "--report", arguments->report, "FILE", "Writes a page (HTML) with tables and figures.");
  CLI::Option* trace = add_advanced(*verb, "--trace", arguments->trace, "FILE",
                                    "Writes a Chrome trace (JSON) of one policy, for ui.perfetto.dev.");
  add_advanced(*verb, "--trace-policy", arguments->trace_policy, "NAME",
               "The policy that --trace shows. Default: the first one of --policies, or mct.")
      ->needs(trace);
  add_advanced(*verb, "--jobs-csv", arguments->jobs_csv, "FILE",
               "Writes what became of each job under each policy, for the first seed.");
  add_advanced(*verb, "--segments-csv", arguments->segments_csv, "FILE",
               "Writes which nodes each job held and when, for the first seed.");
  add_advanced(*verb, "--save-jobs", arguments->save_jobs, "FILE",
               "Writes the jobs of the first seed as CSV. --table reads it.");
  add_common_options(*verb, context, kCorpusOption | kBundleOption | kQuietOption | kSeedOption | kThreadsOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_simulate(context, *arguments); }; });
}

}  // namespace perfcast::cli
