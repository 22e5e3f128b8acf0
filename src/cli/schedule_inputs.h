#pragma once
// Jobs and machines as the command line names them: shared by `schedule simulate` and `capacity`.

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/schedule_mix.h"
#include "schedule/cluster.h"
#include "schedule/workload.h"

namespace perfcast {

struct ScheduleArguments {
  // Where jobs come from: one of these.
  bool mix = false, synthetic = false;
  std::string swf, table, gavel, philly;

  std::string cluster_file;
  std::vector<std::string> nodes;

  CorpusMixOptions corpus_mix;
  int64_t jobs = 0;  // 0: the source's own number
  double load = 0.9, length_sigma = 0.5, jobs_per_hour = 4, rate_factor = 1;
  std::string arrivals = "poisson", gavel_trace;
};

void add_schedule_options(CLI::App& verb, ScheduleArguments& arguments);

struct ScheduleInputs {
  Cluster cluster;
  std::function<Result<Workload>(uint64_t seed)> jobs;  // generated ones differ by seed, traces don't
  bool generated = false;
  std::string source;  // for people
};

// "bad-usage" where not exactly one source is named, or a source needs a cluster and none is given; the readers'
// errors.
Result<ScheduleInputs> read_schedule_inputs(const CommonOptions& common, ScheduleArguments& arguments);

}  // namespace perfcast
