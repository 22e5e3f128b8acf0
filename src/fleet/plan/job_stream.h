#pragma once
// Jobs and machines for a simulation or a plan: where jobs come from, how fast, and the cluster that they are for.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "fleet/jobs/cluster.h"
#include "fleet/jobs/workload.h"
#include "fleet/traces/job_mix.h"

namespace perfcast::fleet {

// Jobs drawn from programs. At a rate, or at a load: so much of what the cluster can carry at most.
struct MixSource {
  ProgramMix mix;
  int64_t jobs = 10'000;
  Arrivals::Kind arrivals = Arrivals::Kind::kPoisson;
  std::optional<double> load, jobs_per_hour;  // one at most; neither: a load of 0.9
  double length_sigma = 0.5;                  // MixOptions::length_sigma
};

// Traces: the same jobs for every seed. `first_jobs`: the first so many; 0: all.
struct TableSource {
  std::string path;  // job_table.h
  int64_t first_jobs = 0;
};
struct SwfSource {
  std::string path;  // swf_reader.h; without a cluster: the log's own machine
  int64_t first_jobs = 0;
};
struct PhillySource {
  std::string path;  // philly_trace.h
  int64_t first_jobs = 0;
};
struct GavelTraceSource {
  std::string folder, trace;  // of its recorded traces
  int64_t first_jobs = 0;
};

// Made ones: other jobs for each seed. Without a cluster they come with their own.
struct GavelSource {
  std::string folder;
  int64_t jobs = 3000;
  double jobs_per_hour = 4;
};
struct SyntheticSource {
  std::optional<int64_t> jobs;
  std::optional<double> load;  // of its own processors
};

using JobSource =
    std::variant<MixSource, TableSource, SwfSource, PhillySource, GavelTraceSource, GavelSource, SyntheticSource>;

struct JobStreamRequest {
  JobSource source;
  std::optional<Cluster> cluster;
  double rate_factor = 1;                 // arrivals come so many times as fast
  std::optional<double> deadline_factor;  // set_deadlines()
  std::optional<double> default_limit_s;  // set_default_limits()
};

struct JobStream {
  Cluster cluster;
  std::function<Result<Workload>(uint64_t seed)> jobs;
  bool generated = false;            // other jobs for each seed
  bool forecast = false;             // their true times are drawn for each seed, as nobody measured them
  double arrivals_per_s = kUnknown;  // the mean of generated ones, where it was set
  std::string source;                // for people
};

// Errors about a field say so in `where`, by its name here ("rate_factor", "load"), and are of kind kUsage;
// "needs-cluster" where the source says nothing of machines; the readers' errors.
Result<JobStream> open_job_stream(JobStreamRequest request);

}  // namespace perfcast::fleet
