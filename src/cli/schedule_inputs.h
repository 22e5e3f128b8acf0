#pragma once
// Jobs and machines as the command line names them: shared by `schedule simulate` and `capacity`.

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/schedule_mix.h"
#include "schedule/jobs/cluster.h"
#include "schedule/jobs/workload.h"

namespace perfcast {

struct ScheduleArguments {
  // Where jobs come from: one of these.
  bool mix = false, synthetic = false;
  std::string swf, table, gavel, philly;

  std::string cluster_file;
  std::vector<std::string> nodes;

  CorpusMixOptions corpus_mix;
  int64_t jobs = 0;                           // 0: the source's own number
  std::optional<double> load, jobs_per_hour;  // absent: the source's own
  std::optional<double> deadline_factor;
  std::optional<double> default_limit_s;
  double length_sigma = 0.5, rate_factor = 1;
  std::string arrivals = "poisson", gavel_trace;
};

void add_schedule_options(CLI::App& verb, ScheduleArguments& arguments);

struct ScheduleInputs {
  Cluster cluster;
  std::function<Result<Workload>(uint64_t seed)> jobs;  // generated ones differ by seed, traces don't
  bool generated = false;
  double arrivals_per_s = kUnknown;  // the mean of generated ones, where it was set
  std::string source;                // for people
};

// "0,0.1,0.5": finite numbers from 0 on; "bad-usage" names the option.
Result<std::vector<double>> parse_ratios(const std::vector<std::string>& texts, const std::string& option,
                                         const std::string& example);

// Arrivals at the rate factor, then deadlines where a factor for them is given. "bad-usage" where not exactly one
// source is named, a source needs a cluster and none is given, or arrivals are given where they are the source's own;
// the readers' errors.
Result<ScheduleInputs> read_schedule_inputs(const CommonOptions& common, const ScheduleArguments& arguments);

}  // namespace perfcast
