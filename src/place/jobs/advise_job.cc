#include "place/jobs/advise_job.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "fleet/slurm/launchers.h"
#include "program/evaluate/platform_name.h"
#include "program/forecast/forecast.h"

namespace perfcast::place {
namespace {

// The forecast of each partition's platform. One whose platform is not known is listed without; where none is known,
// the first one's error is ours.
Result<std::vector<fleet::PartitionForecast>> forecasts_of(const std::vector<fleet::SlurmPartition>& partitions,
                                                           const std::vector<Platform>& platforms,
                                                           const program::ForecastReport& report,
                                                           std::vector<std::string>& notes) {
  std::vector<fleet::PartitionForecast> result;
  std::optional<Error> first;
  bool any = false;
  for (const fleet::SlurmPartition& partition : partitions) {
    fleet::PartitionForecast row{partition, std::nullopt, ""};
    const auto index =
        program::find_platform(platforms, partition.platform, "partition " + partition.name, ErrorKind::kData);
    if (!index) {
      row.no_forecast = index.error().message;
      notes.push_back("partition " + partition.name + ": " + index.error().expected);
      if (!first) first = index.error();
    } else {
      for (const program::PlatformRow& known : report.rows) {
        if (known.platform.id != platforms[*index].id) continue;
        row.forecast = fleet::PlatformForecast{known.platform.name, known.rpv,    known.lower,
                                               known.upper,         known.time_s, known.time_upper_s};
        any = true;
      }
    }
    result.push_back(std::move(row));
  }
  if (!any && first) return *first;
  return result;
}

Result<std::string> program_of(const AdviseJobRequest& request) {
  if (request.program.empty()) return program_key(request.job);
  if (fleet::is_plain_name(request.program)) return request.program;
  return usage_error("bad-usage", "'" + printable(request.program) + "' is no name for a program", "program",
                     "letters, digits and . _ + -");
}

// Why the script runs something else than the profile has, or may do so. Empty where both run the same. A program of
// another file name is an error: its forecast would be of nothing that the job runs.
Result<std::string> other_run(const Profile& profile, const fleet::JobScript& job) {
  const std::vector<std::string> profiled = fleet::program_of(profile.command).words;
  if (job.command.empty()) return std::string("the script does not tell its program");
  if (profiled.empty()) return std::string("the profile does not tell its command");
  const auto base = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  const std::string runs = base(job.command[0]), has = base(profiled[0]);
  if (runs == has || runs == profile.program) {
    if (std::equal(profiled.begin() + 1, profiled.end(), job.command.begin() + 1, job.command.end())) {
      return std::string();
    }
    return "the script has other arguments than the profiled run, " + printable(join(profiled, " ").substr(0, 120));
  }
  return Error{"other-program", "the script runs " + printable(runs) + ", the profile is of " + printable(has),
               job.source,
               "a profile of " + printable(runs) + "; or, if the script runs " + printable(has) +
                   " all the same, --command '" + printable(join(profiled, " ").substr(0, 120)) + "'"};
}

}  // namespace

Result<fleet::SlurmAdvice> advise_job(const program::Forecaster& forecaster, const AdviseJobRequest& request) {
  const auto program = program_of(request);
  if (!program) return program.error();
  const auto differs = other_run(request.profile, request.job);
  if (!differs) return differs.error();
  program::ForecastRequest wanted;
  wanted.reference = request.reference;
  const auto report = program::forecast_program(forecaster, request.profile, wanted);
  if (!report) return report.error();
  std::vector<std::string> notes;
  auto forecasts = forecasts_of(request.partitions, forecaster.bundle().platforms, *report, notes);
  if (!forecasts) return forecasts.error();
  auto advice = fleet::advise(request.job, *program, std::move(*forecasts), request.settings, *differs);
  if (!advice) return advice;
  advice->reference = report->reference_name;
  advice->in_distribution = report->in_distribution;
  advice->notes.insert(advice->notes.end(), notes.begin(), notes.end());
  for (const ProfileWarning& warning : report->warnings) advice->notes.push_back(warning.message);
  return advice;
}

Status remember_advice(const std::string& cache_path, const fleet::SlurmAdvice& advice,
                       std::optional<double> valid_days, int64_t now_unix_ns) {
  return fleet::update_forecast_cache(cache_path, now_unix_ns, [&](fleet::ForecastCache& cache) -> Status {
    if (valid_days) cache.oldest_valid_s = static_cast<int64_t>(*valid_days * 86'400);
    cache.put(fleet::to_cache_entry(advice, now_unix_ns / 1'000'000'000));
    return {};
  });
}

Result<PluginState> plugin_state(const std::string& cache_path) {
  const auto cache = fleet::read_forecast_cache(cache_path);
  if (!cache) return cache.error();
  return PluginState{cache->mode, cache->entries.size()};
}

Result<PluginState> set_plugin_mode(const std::string& cache_path, fleet::CacheMode mode, int64_t now_unix_ns) {
  PluginState state{mode, 0};
  const Status updated =
      fleet::update_forecast_cache(cache_path, now_unix_ns, [&](fleet::ForecastCache& cache) -> Status {
        cache.mode = mode;
        state.programs = cache.entries.size();
        return {};
      });
  if (!updated) return updated.error();
  return state;
}

}  // namespace perfcast::place
