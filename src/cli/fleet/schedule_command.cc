// perfcast schedule simulate: the same jobs under several policies, in virtual time.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/report/put_known.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/fleet/schedule_inputs.h"
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
  std::string text = "Policies (* goes by forecasts, ~ preempts):\n";
  for (const fleet::PolicyInfo& policy : fleet::policies()) {
    text += fmt::format("  {:<16} {}{} {}\n", policy.name, policy.uses_forecasts() ? "*" : " ",
                        policy.preempts ? "~" : " ", policy.text);
  }
  return text;
}

}  // namespace

void add_schedule_command(CLI::App& app, CommandContext& context) {
  CLI::App* group = app.add_subcommand("schedule", "Place jobs by their forecasts");
  group->require_subcommand(1);
  auto arguments = std::make_shared<SimulateArguments>();
  CLI::App* verb = group->add_subcommand("simulate", "The same jobs under several policies, in virtual time");
  verb->footer(policy_list());
  add_schedule_options(*verb, arguments->inputs);
  verb->add_option("--policies", arguments->policies, "Names, separated by commas; without it, all that can be used");
  verb->add_option("--seeds", arguments->comparison.seeds, "Repetitions, with seeds --seed, --seed + 1, ...")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--forecast-error", arguments->errors,
                   "Simulate again with forecasts wrong by these ratios on average, such as 0,0.1,0.2,0.5,1");
  verb->add_flag("--backfill", arguments->comparison.simulation.backfill,
                 "EASY backfilling under every policy that doesn't preempt");
  verb->add_flag("--no-kill", arguments->no_kill, "Let jobs run past their limits");
  verb->add_option("--tie", arguments->comparison.simulation.tie_ratio,
                   "Forecasts this close tie, and go to all best platforms")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_option("--weight", arguments->comparison.simulation.weight,
                   "Of energy or cost in mct-energy, mct-cost: 0 to 1")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  verb->add_option("--round", arguments->comparison.rounds.round_s, "Seconds of a round of the policies that preempt")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--report", arguments->report,
                   "HTML file with tables and figures, to write beside the usual output");
  CLI::Option* trace =
      verb->add_option("--trace", arguments->trace, "Chrome trace (JSON) of one policy, for ui.perfetto.dev");
  verb->add_option("--trace-policy", arguments->trace_policy, "Which; without it, the first named, or mct")
      ->needs(trace);
  verb->add_option("--jobs-csv", arguments->jobs_csv, "What became of each job under each policy, first seed");
  verb->add_option("--segments-csv", arguments->segments_csv, "Which nodes each job held when, first seed");
  verb->add_option("--save-jobs", arguments->save_jobs, "The jobs of the first seed as CSV, to read with --table");
  add_common_options(*verb, context, kCorpusOption | kBundleOption | kQuietOption | kSeedOption | kThreadsOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_simulate(context, *arguments); }; });
}

}  // namespace perfcast::cli
