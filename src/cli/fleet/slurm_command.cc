// perfcast slurm: the partition that a batch job should go to, and the forecasts that Slurm's plugin looks up.

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/forecast_input.h"
#include "cli/shared/named_file.h"
#include "place/jobs/advise_job.h"
#include "program/forecast/forecast.h"

namespace perfcast::cli {
namespace {

constexpr const char* kModeSchema = "perfcast.slurm-mode/1";

struct AdviseArguments {
  std::string script, profile, partitions, cache, program;
  std::string goal = "time";
  std::string reference = "mean";
  std::string command;  // what the script runs, where it does not say
  double tie_percent = 2;
  std::optional<double> valid_days;
  bool accept_failure = false;
};

struct ModeArguments {
  std::string mode, cache;
};

int64_t now_unix_ns() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

Result<fleet::SlurmAdvice> make_advice(const AdviseArguments& arguments, const CommonOptions& options) {
  for (const auto& [option, path] : {std::pair{"SCRIPT", arguments.script},
                                     {"--profile", arguments.profile},
                                     {"--partitions", arguments.partitions}}) {
    if (Status there = check_named_file(option, path); !there) return there.error();
  }
  auto job = fleet::read_job_script(arguments.script);
  if (!job) return job.error();
  if (!arguments.command.empty()) {
    auto words = fleet::shell_words(arguments.command, fleet::LineKind::kCommand);
    if (!words || words->empty()) {
      return usage_error("bad-usage", "'" + printable(arguments.command) + "' is no command line", "--command",
                         "--command './solver input'");
    }
    job->command = std::move(*words);
  }
  auto partitions = fleet::read_partitions(arguments.partitions);
  if (!partitions) return partitions.error();
  auto profile = read_profile(arguments.profile);
  if (!profile) return profile.error();
  if (const Status status = program::check_success(*profile, arguments.accept_failure); !status) return status.error();
  const auto forecaster = open_forecaster(options);
  if (!forecaster) return forecaster.error();
  place::AdviseJobRequest request{
      std::move(*job),
      arguments.program,
      std::move(*partitions),
      std::move(*profile),
      arguments.reference,
      {arguments.goal == "cost" ? fleet::AdviceSettings::Goal::kCost : fleet::AdviceSettings::Goal::kTime,
       arguments.tie_percent / 100}};
  auto advice = place::advise_job(*forecaster, request);
  if (advice) return advice;
  Error error = advice.error();
  if (error.kind == ErrorKind::kUsage && error.where == "program") error.where = "--program";
  return error;
}

int run_advise(const AdviseArguments& arguments, const CommandContext& context) {
  const CommonOptions& options = context.options;
  auto advice = make_advice(arguments, options);
  if (!advice) return report_error(advice.error(), options);
  if (!arguments.cache.empty()) {
    if (const Status status = place::remember_advice(arguments.cache, *advice, arguments.valid_days, now_unix_ns());
        !status)
      return report_error(status.error(), options);
  }
  if (options.quiet && !options.json) advice->notes.clear();
  return write_result(options.json ? to_text(to_json(*advice)) : to_text(*advice), options);
}

int run_mode(const ModeArguments& arguments, const CommandContext& context) {
  const CommonOptions& options = context.options;
  if (arguments.mode.empty()) {
    if (Status there = check_named_file("--cache", arguments.cache); !there) {
      return report_error(there.error(), options);
    }
  }
  const fleet::CacheMode wanted = arguments.mode == "act" ? fleet::CacheMode::kAct : fleet::CacheMode::kObserve;
  const auto state = arguments.mode.empty() ? place::plugin_state(arguments.cache)
                                            : place::set_plugin_mode(arguments.cache, wanted, now_unix_ns());
  if (!state) return report_error(state.error(), options);
  const std::string mode = to_string(state->mode);
  if (options.json) {
    const Json json{{"schema", kModeSchema}, {"mode", mode}, {"programs_count", state->programs}};
    return write_result(to_text(json), options);
  }
  const char* const meaning =
      state->mode == fleet::CacheMode::kAct ? "jobs that ask are placed" : "choices are logged, jobs stay as they are";
  return write_result(fmt::format("{}: {}; programs: {}\n", mode, meaning, state->programs), options);
}

void add_advise(CLI::App& slurm, CommandContext& context) {
  auto arguments = std::make_shared<AdviseArguments>();
  CLI::App* verb =
      add_verb(slurm, {"advise",
                       "Forecasts a batch script's program on each partition and chooses.",
                       "",
                       {"perfcast slurm advise job.sh --profile p.json --partitions parts.json",
                        "perfcast slurm advise job.sh --profile p.json --partitions parts.json --goal cost"},
                       "slurm"});
  verb->footer(
      "The program's name in the cache comes from #SBATCH --comment=perfcast:NAME. Without that line it is the job's "
      "name, or else the file name of the program that the script runs.");
  add_basic(*verb, "script", arguments->script, "SCRIPT", "The batch script with #SBATCH lines.")->required();
  add_basic(*verb, "--profile", arguments->profile, "FILE",
            "A profile of an earlier run, from: perfcast profile -o p.json -- COMMAND.")
      ->required();
  add_basic(*verb, "--partitions", arguments->partitions, "FILE",
            "The file (JSON) that names the platform of each partition.")
      ->required();
  add_basic(*verb, "--cache", arguments->cache, "FILE",
            "Adds the choice to this forecast cache, which the Slurm plugin reads.");
  add_advanced(*verb, "--program", arguments->program, "NAME", "The program's name in the cache.");
  add_advanced(*verb, "--command", arguments->command, "LINE",
               "The command that the script runs, if perfcast can't tell.");
  add_basic(*verb, "--goal", arguments->goal, "time|cost",
            "Chooses the partition of least time, or of least cost (price per hour, time and nodes multiplied).")
      ->check(CLI::IsMember({"time", "cost"}))
      ->capture_default_str();
  add_basic(*verb, "--tie", arguments->tie_percent, "PERCENT",
            "Also chooses partitions that are this near to the best.")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  add_advanced(*verb, "--valid-days", arguments->valid_days, "DAYS",
               "How many days a forecast in the cache stays valid. Default: what the cache says; for a new cache, 365.")
      ->check(CLI::Range(0.01, 36'500.0));
  add_advanced(*verb, "--reference", arguments->reference, "NAME",
               "What relative times refer to: mean (of the platforms), host, or the name of a platform.")
      ->capture_default_str();
  add_advanced(*verb, "--accept-failure", arguments->accept_failure, "Also forecasts a program that failed.");
  add_common_options(*verb, context, kBundleOption | kQuietOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_advise(*arguments, context); }; });
}

void add_mode(CLI::App& slurm, CommandContext& context) {
  auto arguments = std::make_shared<ModeArguments>();
  CLI::App* verb =
      add_verb(slurm, {"mode",
                       "Says or sets whether the Slurm plugin places jobs or only logs.",
                       "",
                       {"perfcast slurm mode --cache cache.bin", "perfcast slurm mode act --cache cache.bin"},
                       "slurm"});
  add_basic(
      *verb, "mode", arguments->mode, "act|observe",
      "act: the plugin places jobs. observe: it only logs what it would do. Without a word you see which one it is.")
      ->check(CLI::IsMember({"act", "observe"}));
  add_basic(*verb, "--cache", arguments->cache, "FILE", "The forecast cache of the Slurm plugin.")->required();
  add_common_options(*verb, context, kNoFurtherOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_mode(*arguments, context); }; });
}

}  // namespace

void add_slurm_command(CLI::App& app, CommandContext& context) {
  CLI::App* slurm = add_verb(app, {"slurm",
                                   "Chooses Slurm partitions for batch jobs by forecast.",
                                   "",
                                   {"perfcast slurm advise job.sh --profile p.json --partitions parts.json",
                                    "perfcast slurm mode observe --cache cache.bin"},
                                   "slurm"});
  slurm->require_subcommand(1);
  add_advise(*slurm, context);
  add_mode(*slurm, context);
}

}  // namespace perfcast::cli
