#pragma once
// Jobs and machines as the command line names them: shared by `schedule simulate` and `capacity`.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/shared/price_options.h"
#include "cli/shared/table_options.h"
#include "fleet/plan/job_stream.h"

namespace perfcast::cli {

struct ScheduleArguments {
  // Where jobs come from: one of these.
  bool mix = false, synthetic = false;
  std::string swf, table, gavel, philly;
  std::vector<std::string> profiles;

  std::string cluster_file;
  std::vector<std::string> nodes;
  PriceArguments prices;

  TableArguments corpus_table;
  std::string model = "stack", measured_on;
  std::vector<double> weights;  // of the profiles
  std::string host;             // of the profiles
  double mean_job_s = 600;
  int32_t cores_per_job = 1;

  int64_t jobs = 0;                           // 0: the source's own number
  std::optional<double> load, jobs_per_hour;  // absent: the source's own
  std::optional<double> deadline_factor, default_limit_s;
  double length_sigma = 0.5, rate_factor = 1;
  std::string arrivals = "poisson", gavel_trace;

  const CLI::App* verb = nullptr;  // knows which options were given

  // Whether jobs are drawn from programs, at a rate or a load that must be said.
  bool is_mix() const { return mix || !profiles.empty(); }
};

void add_schedule_options(CLI::App& verb, ScheduleArguments& arguments);

// "0,0.1,0.5": finite numbers from 0 on; "bad-usage" names the option.
Result<std::vector<double>> parse_ratios(const std::vector<std::string>& texts, const std::string& option,
                                         const std::string& example);

// "bad-usage" where not exactly one source is named, an option is given that the source has no use for, or a file that
// isn't there; open_job_stream()'s errors, with options for fields.
Result<fleet::JobStream> read_job_stream(const CommonOptions& common, const ScheduleArguments& arguments);

// On standard error, before minutes of simulation: which jobs of the first sample no group can run.
void say_impossible_jobs(const CommonOptions& common, const fleet::JobStream& stream,
                         const std::vector<fleet::NodeGroup>& groups);

}  // namespace perfcast::cli
