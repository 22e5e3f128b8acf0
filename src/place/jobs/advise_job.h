#pragma once
// Use case: advise this job. The partition that a batch job should go to, and what Slurm's plugin remembers of it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/slurm/advice.h"
#include "fleet/slurm/forecast_cache.h"
#include "fleet/slurm/job_script.h"
#include "fleet/slurm/partitions.h"
#include "profile/profile.h"
#include "program/model/forecast/forecaster.h"

namespace perfcast::place {

struct AdviseJobRequest {
  fleet::JobScript job;
  std::string program;  // its name in the cache; empty: program_key()
  std::vector<fleet::SlurmPartition> partitions;
  Profile profile;                 // of an earlier run of the program
  std::string reference = "mean";  // what relative times refer to, as ForecastRequest::reference
  fleet::AdviceSettings settings;
};

// A partition whose platform the bundle lacks is listed without a forecast, with near names in a note; where that is so
// for all, the first one's error is ours, of kind kData: it stands in a file. Usage error "bad-usage" for a program
// that is no plain name (where: "program"); "other-program" where the script's program and that of the profile have
// different file names (a profile without a command: a note); program_key()'s, the forecast's and advise()'s errors.
Result<fleet::SlurmAdvice> advise_job(const program::Forecaster& forecaster, const AdviseJobRequest& request);

// Adds the advice to the plugin's cache. `valid_days`: how old its forecasts may become; absent: as it was.
Status remember_advice(const std::string& cache_path, const fleet::SlurmAdvice& advice,
                       std::optional<double> valid_days, int64_t now_unix_ns);

struct PluginState {
  fleet::CacheMode mode = fleet::CacheMode::kAct;
  size_t programs = 0;
};
Result<PluginState> plugin_state(const std::string& cache_path);
// Afterwards.
Result<PluginState> set_plugin_mode(const std::string& cache_path, fleet::CacheMode mode, int64_t now_unix_ns);

}  // namespace perfcast::place
