// perfcast capacity: how many nodes of each platform a stream of jobs needs.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/json.h"
#include "base/process/duration.h"
#include "base/text.h"
#include "cli/ai/llm_plan.h"
#include "cli/choices.h"
#include "cli/command.h"
#include "cli/fleet/schedule_inputs.h"
#include "cli/option_table.h"
#include "cli/shared/amount_option.h"
#include "cli/shared/table_options.h"
#include "fleet/plan/size_cluster.h"
#include "fleet/report/capacity_report.h"

namespace perfcast::cli {
namespace {

struct CapacityArguments {
  ScheduleArguments inputs;
  std::vector<std::string> objectives, growth = {"1,1.25,1.5,2"}, errors = {"0,0.1,0.2,0.5,1"};
  std::optional<double> most_cost_per_hour;
  std::optional<fleet::CapacityGoal> goal;
  std::optional<std::string> policy;
  std::optional<int64_t> seeds, at_most;
  bool unbounded = false, strict = false, no_kill = false;
  fleet::CapacityRequest request;  // of what is passed on as it is
  LlmPlanArguments llm;
  std::vector<CLI::Option*> of_jobs, of_llm;  // options that are for these alone
};

constexpr const char* kAim = "What the plan must achieve";
constexpr const char* kLlmGroup = "Services of language models (--llm)";

// As people write them, and as in JSON.
constexpr std::pair<const char*, fleet::ServiceMetric> kObjectives[] = {
    {"p99-wait", fleet::ServiceMetric::kP99Wait},
    {"mean-wait", fleet::ServiceMetric::kMeanWait},
    {"mean-slowdown", fleet::ServiceMetric::kMeanBoundedSlowdown},
    {"deadline-share", fleet::ServiceMetric::kDeadlineShare},
};

Result<fleet::ServiceObjective> parse_objective(const std::string& text) {
  const size_t sign = text.find('=');
  const std::string name = text.substr(0, sign);
  std::vector<std::string> names;
  for (const auto& [known, metric] : kObjectives) {
    names.emplace_back(known);
    if (name != known) continue;
    const std::string target = sign == std::string::npos ? "" : text.substr(sign + 1);
    std::optional<double> value = parse_number(target);
    if (!value && fleet::info(metric).is_time) {
      const auto duration_s = parse_duration_s(target, "--objective");
      if (duration_s) value = *duration_s;
    }
    if (!value) {
      return usage_error("bad-usage", "'" + printable(target) + "' is no target of " + name, "--objective",
                         name + (fleet::info(metric).is_time    ? "=60s, 2m, 500ms, 1h, or seconds"
                                 : fleet::info(metric).at_least ? "=0.99"
                                                                : "=5"));
    }
    auto objective = fleet::service_objective(fleet::info(metric).name, *value);
    if (objective) return objective;
    Error error = objective.error();
    error.kind = ErrorKind::kUsage;
    return error;
  }
  return usage_error("bad-usage", "'" + printable(name) + "' is no objective", "--objective",
                     "NAME=TARGET, of " + nearest_names(name, names, names.size()));
}

Result<fleet::Policy> parse_policy(const std::string& name) {
  auto policy = fleet::policy_named(name);
  if (!policy || !fleet::info(*policy).preempts) return policy;
  return usage_error("bad-usage", "policy " + name + " works in rounds, and plans are made for those that don't",
                     "--policy", "one of: " + fleet::names_of_policies(false));
}

// "none" turns a list off.
Result<std::vector<double>> ratios_or_none(const std::vector<std::string>& texts, const char* option,
                                           const char* example) {
  if (list_of(texts) == std::vector<std::string>{"none"}) return std::vector<double>();
  return parse_ratios(texts, option, std::string(example) + ", or none");
}

// What of the request is said on the command line alone.
Result<fleet::CapacityRequest> plan_of(const CapacityArguments& arguments) {
  fleet::CapacityRequest request = arguments.request;
  for (const std::string& text : arguments.objectives) {
    const auto objective = parse_objective(text);
    if (!objective) return objective.error();
    request.objectives.push_back(*objective);
  }
  if (arguments.policy) {
    const auto policy = parse_policy(*arguments.policy);
    if (!policy) return policy.error();
    request.policy = *policy;
  }
  auto growth = ratios_or_none(arguments.growth, "--growth", "1,1.25,1.5,2");
  if (!growth) return growth.error();
  request.growth = std::move(*growth);
  auto errors = ratios_or_none(arguments.errors, "--forecast-error", "0,0.1,0.2,0.5,1");
  if (!errors) return errors.error();
  request.errors = std::move(*errors);
  request.goal = arguments.goal.value_or(fleet::CapacityGoal::kCost);
  request.rule = arguments.strict ? fleet::SeedRule::kAll : fleet::SeedRule::kMost;
  request.simulation.kill_at_limit = !arguments.no_kill;
  if (arguments.most_cost_per_hour) request.budget_per_hour = *arguments.most_cost_per_hour;
  if (arguments.inputs.is_mix() && !arguments.inputs.load && !arguments.inputs.jobs_per_hour) {
    return usage_error("bad-usage", "nothing says how fast the jobs come", "--jobs-per-hour",
                       "--jobs-per-hour R, or --load L: so much of what the cluster as given could carry at most");
  }
  return request;
}

// Options that one way of using the verb has no use for.
Status check_unused_of(const std::vector<CLI::Option*>& options, const std::string& way, const std::string& expected) {
  for (const CLI::Option* option : options) {
    if (option->count() == 0) continue;
    return usage_error("bad-usage", name_of(*option) + " has no effect " + way, name_of(*option), expected);
  }
  return {};
}

int run_llm_capacity(const CommonOptions& common, CapacityArguments& arguments) {
  ai::ServingPlanRequest request;
  Status fine = check_unused(*arguments.inputs.verb, "--llm", {"--prices"}, "--price DEVICE=USD");
  if (fine) fine = check_unused_of(arguments.of_jobs, "with --llm", "--llm, or a source of jobs");
  if (fine) fine = take_load_growth(arguments.growth, request);
  if (!fine) return report_error(fine.error(), common);
  request.most_cost_per_hour = arguments.most_cost_per_hour;
  request.most_devices = arguments.at_most;
  arguments.llm.serving.objectives = arguments.objectives;
  if (!arguments.inputs.host.empty()) arguments.llm.serving.engine.hosts = {arguments.inputs.host};
  std::optional<ai::PlanGoal> goal;
  if (arguments.goal) {
    goal = *arguments.goal == fleet::CapacityGoal::kCost    ? ai::PlanGoal::kCost
           : *arguments.goal == fleet::CapacityGoal::kPower ? ai::PlanGoal::kPower
                                                            : ai::PlanGoal::kDevices;
  }
  return run_llm_plan(common, arguments.llm, std::move(request), goal);
}

int run_capacity(const CommandContext& context, CapacityArguments& arguments) {
  const CommonOptions& common = context.options;
  if (!arguments.llm.serving.model.empty()) return run_llm_capacity(common, arguments);
  Status fine =
      check_unused_of(arguments.of_llm, "without --llm", "--llm MODEL; --exchange-rate says what a currency is worth");
  if (fine && arguments.objectives.empty()) {
    fine = usage_error("bad-usage", "--objective is required", "", "see: perfcast capacity --help");
  }
  if (!fine) return report_error(fine.error(), common);
  auto plan = plan_of(arguments);
  if (!plan) return report_error(plan.error(), common);
  auto stream = read_job_stream(common, arguments.inputs);
  if (!stream) return report_error(stream.error(), common);
  fleet::SizeClusterRequest request{std::move(*stream),
                                    std::move(*plan),
                                    common.seed,
                                    arguments.seeds,
                                    arguments.at_most,
                                    arguments.goal.has_value(),
                                    arguments.policy.has_value()};
  if (arguments.unbounded) request.at_most = fleet::kAnyNumber;
  say_impossible_jobs(common, request.stream, fleet::candidates_of(request));

  ProgressLine progress(common);
  request.plan.progress = [&progress, goal = request.plan.goal](const fleet::CapacityProgress& now) {
    progress.show(fmt::format("{}: {} simulations{}", now.stage, now.simulations,
                              std::isnan(now.best_value)
                                  ? ""
                                  : fmt::format(", best so far {:.4g} ({})", now.best_value, fleet::name_of(goal))));
  };
  auto answer = fleet::size_cluster(request);
  if (!answer) {
    Error error = answer.error();
    if (error.code == "no-deadline") error.expected += ": a column deadline_s, or --deadline-factor F";
    return report_error(error, common);
  }
  if (arguments.inputs.is_mix() && !arguments.inputs.jobs_per_hour) {
    answer->notes.push_back(fmt::format("the load of {} is of what the cluster as given ({} nodes) could carry at most",
                                        *arguments.inputs.load, request.stream.cluster.nodes()));
  }
  if (common.quiet && !common.json) answer->notes.clear();
  const int written =
      write_result(common.json ? to_text(fleet::capacity_json(*answer)) : fleet::capacity_text(*answer), common);
  // Scripts ask whether there is a plan.
  return written == kExitDone && !answer->meets ? kExitFailure : written;
}

void add_objective_options(CLI::App& verb, CapacityArguments& arguments) {
  add_basic(verb, "--objective", arguments.objectives, "GOAL",
            "What the plan must achieve: at most p99-wait=60s, mean-wait=10s or mean-slowdown=5, or at least "
            "deadline-share=0.99; with --llm limits and a share of the requests, ttft=1s,tpot=50ms,share=95%. "
            "Repeatable.");
  add_basic(verb, "--minimise", arguments.goal, "cost|nodes|power",
            "What the plan minimises. Default: cost, or nodes if a price is not known.")
      ->transform(choices<fleet::CapacityGoal>({{"cost", fleet::CapacityGoal::kCost},
                                                {"nodes", fleet::CapacityGoal::kNodes},
                                                {"power", fleet::CapacityGoal::kPower}}));
  takes_amount(add_basic(verb, "--max-cost-per-hour,--budget", arguments.most_cost_per_hour, "MONEY",
                         "The most that all nodes together may cost per hour."));
  add_advanced(
      verb, "--at-most", arguments.at_most, "N",
      "Allows at most this many nodes of each platform, in place of the cluster's numbers; with --llm, at most "
      "this many devices.")
      ->check(CLI::Range(int64_t{1}, int64_t{1000000}))
      ->group(kAim);
}

// Options that are added meanwhile.
std::vector<CLI::Option*> added_by(CLI::App& verb, const std::function<void()>& add) {
  const std::vector<CLI::Option*> before = verb.get_options();
  add();
  std::vector<CLI::Option*> added = verb.get_options();
  std::erase_if(added, [&](const CLI::Option* option) {
    return std::find(before.begin(), before.end(), option) != before.end();
  });
  return added;
}

void add_llm_options(CLI::App& verb, CapacityArguments& arguments) {
  arguments.of_llm = added_by(verb, [&] { add_llm_plan_options(verb, arguments.llm); });
  for (CLI::Option* option : arguments.of_llm) {
    const std::string name = name_of(*option);
    if (name != "--rate" && name != "--price") option->group(kLlmGroup);
  }
}

void add_job_options(CLI::App& verb, CapacityArguments& arguments) {
  add_schedule_options(verb, arguments.inputs);
  add_advanced(verb, "--unbounded", arguments.unbounded, "Allows any number of nodes of each platform.")
      ->excludes(verb.get_option("--at-most"))
      ->group(kAim);
  add_advanced(verb, "--strict", arguments.strict,
               "Asks that the objectives hold in every draw of the jobs, not only in 9 of 10.")
      ->group(kAim);
  add_advanced(verb, "--policy", arguments.policy, "NAME",
               "How jobs are placed: a policy of schedule simulate. Default: the one of mct, easy and sjf whose plan "
               "saves most.");
  add_advanced(verb, "--seeds", arguments.seeds, "N",
               "How many random draws of the jobs the search uses, with seeds --seed, --seed + 1, ... Default: 10; for "
               "a trace, 1.")
      ->check(CLI::Range(1, 1000));
  add_advanced(verb, "--forecast-error", arguments.errors, "RATIO,...",
               "Simulates the plan again with forecasts that are wrong by these ratios on average, or with none.")
      ->capture_default_str();
  add_advanced(verb, "--warmup", arguments.request.warmup_share, "SHARE",
               "Leaves this share of the jobs, the first ones, out of the statistics.")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  add_advanced(verb, "--most-plans", arguments.request.most_plans, "N", "Simulates at most this many plans.")
      ->check(CLI::Range(int64_t{1}, int64_t{1000000}))
      ->capture_default_str();
  add_advanced(verb, "--backfill", arguments.request.simulation.backfill, "Adds EASY backfilling to every policy.");
  add_advanced(verb, "--no-kill", arguments.no_kill, "Lets jobs run past their time limits.");
}

}  // namespace

void add_capacity_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<CapacityArguments>();
  CLI::App* verb = add_verb(
      app, {"capacity",
            "Says how many nodes, or devices of a language model's service, a load needs.",
            "",
            {"perfcast capacity --objective p99-wait=60s --swf trace.swf --cluster c.json",
             "perfcast capacity --objective mean-wait=10s --profile last --load 0.5 --cluster c.json",
             "perfcast capacity --llm llama3-8b --rate 20 --objective ttft=1s,tpot=50ms --price H100=3,L40S=1"},
            "capacity"});
  verb->footer(
      "The plan chooses nodes from the cluster's groups, at most as many as each group has. The jobs of a trace arrive "
      "at the trace's own rate, multiplied by --rate-factor.");
  add_objective_options(*verb, *arguments);
  add_basic(*verb, "--llm", arguments->llm.serving.model, "MODEL",
            "Plans a service of this language model, not jobs: a built-in name, a config.json, a folder with one, or a "
            "GGUF file.");
  add_llm_options(*verb, *arguments);
  add_advanced(*verb, "--growth", arguments->growth, "FACTOR,...",
               "Plans again for the load times these factors, or for none. With --llm also a rate, such as 20%/month.")
      ->capture_default_str();
  arguments->of_jobs = added_by(*verb, [&] { add_job_options(*verb, *arguments); });
  std::erase(arguments->of_jobs, verb->get_option("--host"));
  verb->get_option("--host")->description(
      "The platform that the profiles were taken on, if its CPU hides its name. With --llm: the CPU or the instance "
      "type that the devices are in; DEVICE=HOST for one device.");
  add_common_options(*verb, context, kCorpusOption | kBundleOption | kQuietOption | kSeedOption | kThreadsOption);
  for (const char* name : {"--corpus", "--bundle"}) arguments->of_jobs.push_back(verb->get_option(name));
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_capacity(context, *arguments); }; });
}

}  // namespace perfcast::cli
