// perfcast slurm: the partition that a batch job should go to, and the forecasts that Slurm's plugin looks up.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/forecast_input.h"
#include "evaluate/platform_name.h"
#include "scenario/forecast.h"
#include "schedule/slurm/advice.h"

namespace perfcast {
namespace {

constexpr const char* kModeSchema = "perfcast.slurm-mode/1";

struct AdviseArguments {
  std::string script, profile, partitions, cache, program, goal = "time";
  std::string reference = "mean";
  std::string command;  // what the script runs, where it does not say
  double tie_percent = 2, valid_days = 0;
  bool accept_failure = false;
};

struct ModeArguments {
  std::string mode, cache;
};

int64_t now_unix_ns() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

// The forecast of each partition's platform. One whose platform is not known is listed without; where none is known,
// the first one's error is ours.
Result<std::vector<PartitionForecast>> forecasts_of(const std::vector<SlurmPartition>& partitions,
                                                    const std::vector<Platform>& platforms,
                                                    const ForecastReport& report) {
  std::vector<PartitionForecast> result;
  std::optional<Error> first;
  bool any = false;
  for (const SlurmPartition& partition : partitions) {
    PartitionForecast row{partition, std::nullopt, ""};
    const auto index = find_platform(platforms, partition.platform, "partition " + partition.name, ErrorKind::kData);
    if (!index) {
      row.no_forecast = index.error().message;
      if (!first) first = index.error();
    } else {
      for (const PlatformRow& known : report.rows) {
        if (known.platform.id != platforms[*index].id) continue;
        row.forecast = PlatformForecast{known.platform.name, known.rpv, known.lower, known.upper, known.time_s};
        any = true;
      }
    }
    result.push_back(std::move(row));
  }
  if (!any && first) return *first;
  return result;
}

Result<SlurmAdvice> make_advice(const AdviseArguments& arguments, const CommonOptions& options) {
  auto job = read_job_script(arguments.script);
  if (!job) return job.error();
  if (!arguments.command.empty()) {
    auto words = shell_words(arguments.command, LineKind::kCommand);
    if (!words || words->empty()) {
      return usage_error("bad-usage", "'" + printable(arguments.command) + "' is no command line", "--command",
                         "--command './solver input'");
    }
    job->command = std::move(*words);
  }
  const auto program = arguments.program.empty() ? program_key(*job) : Result<std::string>(arguments.program);
  if (!program) return program.error();
  if (!is_plain_name(*program)) {
    return usage_error("bad-usage", "'" + printable(*program) + "' is no name for a program", "--program",
                       "letters, digits and . _ + -");
  }
  const auto partitions = read_partitions(arguments.partitions);
  if (!partitions) return partitions.error();
  const auto profile = read_profile(arguments.profile);
  if (!profile) return profile.error();
  if (const Status status = check_success(*profile, arguments.accept_failure); !status) return status.error();
  const auto forecaster = open_forecaster(options.bundle);
  if (!forecaster) return forecaster.error();
  ForecastRequest request;
  request.reference = arguments.reference;
  const auto report = forecast_program(*forecaster, *profile, request);
  if (!report) return report.error();
  const std::vector<Platform>& platforms = forecaster->bundle().platforms;
  auto forecasts = forecasts_of(*partitions, platforms, *report);
  if (!forecasts) return forecasts.error();
  const AdviceSettings settings{arguments.goal == "cost" ? AdviceSettings::Goal::kCost : AdviceSettings::Goal::kTime,
                                arguments.tie_percent / 100};
  auto advice = advise(*job, *program, std::move(*forecasts), settings);
  if (!advice) return advice;
  advice->reference = report->reference_name;
  advice->in_distribution = report->in_distribution;
  for (const AdviceRow& row : advice->rows) {
    if (row.of.forecast) continue;
    const auto index = find_platform(platforms, row.of.partition.platform, "", ErrorKind::kData);
    if (!index) advice->notes.push_back("partition " + row.of.partition.name + ": " + index.error().expected);
  }
  for (const ProfileWarning& warning : report->warnings) advice->notes.push_back(warning.message);
  return advice;
}

Status remember(const SlurmAdvice& advice, const AdviseArguments& arguments) {
  const int64_t now_ns = now_unix_ns();
  return update_forecast_cache(arguments.cache, now_ns, [&](ForecastCache& cache) -> Status {
    if (arguments.valid_days > 0) cache.oldest_valid_s = static_cast<int64_t>(arguments.valid_days * 86'400);
    cache.put(to_cache_entry(advice, now_ns / 1'000'000'000));
    return {};
  });
}

int run_advise(const AdviseArguments& arguments, const CommandContext& context) {
  const CommonOptions& options = context.options;
  auto advice = make_advice(arguments, options);
  if (!advice) return report_error(with_option_names(advice.error()), options);
  if (!arguments.cache.empty()) {
    if (const Status status = remember(*advice, arguments); !status) return report_error(status.error(), options);
  }
  if (options.quiet && !options.json) advice->notes.clear();
  return write_result(options.json ? to_text(to_json(*advice)) : to_text(*advice), options);
}

int run_mode(const ModeArguments& arguments, const CommandContext& context) {
  const CommonOptions& options = context.options;
  std::string mode = arguments.mode;
  size_t programs = 0;
  if (mode.empty()) {
    const auto cache = read_forecast_cache(arguments.cache);
    if (!cache) return report_error(cache.error(), options);
    mode = to_string(cache->mode);
    programs = cache->entries.size();
  } else {
    const Status status = update_forecast_cache(arguments.cache, now_unix_ns(), [&](ForecastCache& cache) -> Status {
      cache.mode = mode == "act" ? CacheMode::kAct : CacheMode::kObserve;
      programs = cache.entries.size();
      return {};
    });
    if (!status) return report_error(status.error(), options);
  }
  if (options.json) {
    const Json json{{"schema", kModeSchema}, {"mode", mode}, {"programs_count", programs}};
    return write_result(to_text(json), options);
  }
  const char* const meaning = mode == "act" ? "jobs that ask are placed" : "choices are logged, jobs stay as they are";
  return write_result(fmt::format("{}: {}; programs: {}\n", mode, meaning, programs), options);
}

void add_advise(CLI::App& slurm, CommandContext& context) {
  auto arguments = std::make_shared<AdviseArguments>();
  CLI::App* verb = slurm.add_subcommand("advise", "Forecast a batch script's program on each partition and choose");
  verb->footer(
      "The program's name in the cache is that of #SBATCH --comment=perfcast:NAME, else the job's name, else the file\n"
      "name of what the script runs. docs/SLURM.md has the plugin that reads the cache.");
  verb->add_option("script", arguments->script, "Batch script with #SBATCH lines")->required();
  verb->add_option("--profile", arguments->profile, "Profile of an earlier run: perfcast profile -o p.json -- CMD")
      ->required();
  verb->add_option("--partitions", arguments->partitions, "JSON file: the platform of each partition")->required();
  verb->add_option("--cache", arguments->cache, "Add the choice to this forecast cache of the plugin");
  verb->add_option("--program", arguments->program, "The program's name in the cache");
  verb->add_option("--command", arguments->command, "What the script runs, where it can't be told");
  verb->add_option("--goal", arguments->goal, "Least time, or least cost: price per hour x time")
      ->check(CLI::IsMember({"time", "cost"}))
      ->capture_default_str();
  verb->add_option("--tie", arguments->tie_percent, "Percent: partitions this near to the best are chosen, too")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  verb->add_option("--valid-days", arguments->valid_days, "How old the cache's forecasts may become; at first 365")
      ->check(CLI::Range(0.01, 36'500.0));
  verb->add_option("--reference", arguments->reference,
                   "What relative times refer to: mean (of the platforms), host, or a platform's name")
      ->capture_default_str();
  verb->add_flag("--accept-failure", arguments->accept_failure, "Forecast a program that failed, too");
  add_common_options(*verb, context);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_advise(*arguments, context); }; });
}

void add_mode(CLI::App& slurm, CommandContext& context) {
  auto arguments = std::make_shared<ModeArguments>();
  CLI::App* verb = slurm.add_subcommand("mode", "Whether the plugin places jobs (act) or only logs (observe)");
  verb->add_option("mode", arguments->mode, "act or observe; absent: which one it is")
      ->check(CLI::IsMember({"act", "observe"}));
  verb->add_option("--cache", arguments->cache, "The plugin's forecast cache")->required();
  add_common_options(*verb, context);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_mode(*arguments, context); }; });
}

}  // namespace

void add_slurm_command(CLI::App& app, CommandContext& context) {
  CLI::App* slurm = app.add_subcommand("slurm", "Place batch jobs by forecast: advise, mode");
  slurm->require_subcommand(1);
  add_advise(*slurm, context);
  add_mode(*slurm, context);
}

}  // namespace perfcast
