#include "fleet/plan/job_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/file.h"
#include "fleet/capacity/demand.h"
#include "fleet/capacity/offered_load.h"
#include "fleet/traces/gavel_trace.h"
#include "fleet/traces/job_table.h"
#include "fleet/traces/philly_trace.h"
#include "fleet/traces/swf_reader.h"
#include "fleet/traces/swf_synthetic.h"

namespace perfcast::fleet {
namespace {

constexpr double kUsualLoad = 0.9;
constexpr int64_t kGavelServers = 36;  // of each platform, in the paper

using OptionalCluster = std::optional<Cluster>;

Error needs_cluster(const std::string& source) {
  return usage_error("needs-cluster", source + " does not name the machines", "cluster", "a cluster");
}

Status check_above_0(const std::optional<double>& value, const char* field, const char* example) {
  if (!value || (*value > 0 && std::isfinite(*value))) return {};
  return usage_error("bad-usage", "it isn't above 0", field, std::string("such as ") + example);
}

// A cluster of one group stands for the trace's own machine, whatever it is called.
std::string only_platform(const OptionalCluster& cluster) {
  return cluster && cluster->groups.size() == 1 ? cluster->groups.front().platform : "any";
}

void keep_first(Workload& workload, int64_t jobs) {
  if (jobs <= 0 || static_cast<size_t>(jobs) >= workload.size()) return;
  const auto kept = static_cast<size_t>(jobs);
  workload.jobs.resize(kept);
  for (auto* matrix :
       {&workload.time_s, &workload.forecast_s, &workload.lower_s, &workload.upper_s, &workload.energy_joules}) {
    if (!matrix->empty()) matrix->resize(kept * workload.platforms.size());
  }
  for (JobRequest& job : workload.jobs) {
    if (job.after >= jobs) job.after = kNoIndex;
  }
}

// A trace is one workload for all seeds.
JobStream trace_stream(Cluster cluster, Workload workload, int64_t first_jobs) {
  keep_first(workload, first_jobs);
  JobStream stream;
  stream.cluster = std::move(cluster);
  stream.source = workload.source;
  stream.jobs = [kept = std::make_shared<const Workload>(std::move(workload))](uint64_t) {
    return Result<Workload>(*kept);
  };
  return stream;
}

// What is known of Gavel's job types before they run is the table that their times are made of.
Result<Workload> with_forecasts(Result<Workload> workload) {
  if (workload) workload->forecast_s = workload->time_s;
  return workload;
}

Result<GavelThroughputs> read_gavel_table(const std::string& folder) {
  const std::string table = folder + "/simulation_throughputs_isolated.csv";
  const auto text = read_file(table);
  if (!text) return text.error();
  return parse_gavel_throughputs(*text, table);
}

Cluster gavel_cluster(OptionalCluster cluster, const GavelThroughputs& throughputs) {
  if (cluster) return std::move(*cluster);
  Cluster made;  // that of the paper, the newest generation in front
  for (auto platform = throughputs.platforms.rbegin(); platform != throughputs.platforms.rend(); ++platform) {
    NodeGroup group;
    group.platform = *platform;
    group.nodes = kGavelServers;
    group.cores_per_node = 0;
    group.gpus_per_node = 1;
    made.groups.push_back(group);
  }
  return made;
}

Result<JobStream> open(MixSource source, OptionalCluster cluster) {
  if (!cluster) return needs_cluster("a mix of programs");
  if (source.load && source.jobs_per_hour) {
    return usage_error("bad-usage", "arrivals have a load and a rate", "load", "one of the two");
  }
  if (Status good = check_above_0(source.load, "load", "0.9"); !good) return good.error();
  if (Status good = check_above_0(source.jobs_per_hour, "jobs_per_hour", "4"); !good) return good.error();
  MixOptions draw;
  draw.jobs = source.jobs;
  draw.arrivals.kind = source.arrivals;
  if (source.jobs_per_hour) {
    draw.arrivals.rate_per_s = *source.jobs_per_hour / 3600;
  } else {
    const auto most = highest_rate_per_s(source.mix, *cluster);
    if (!most) return most.error();
    draw.arrivals.rate_per_s = source.load.value_or(kUsualLoad) * *most;
  }
  draw.length_sigma = source.length_sigma;
  JobStream stream;
  if (draw.arrivals.kind != Arrivals::Kind::kBatch) stream.arrivals_per_s = draw.arrivals.rate_per_s;
  stream.cluster = std::move(*cluster);
  stream.generated = true;
  stream.forecast = std::any_of(source.mix.programs.begin(), source.mix.programs.end(),
                                [](const MixProgram& program) { return !program.log_error_root.empty(); });
  stream.source = source.mix.source;
  stream.jobs = [mix = std::make_shared<const ProgramMix>(std::move(source.mix)), draw](uint64_t seed) mutable {
    draw.seed = seed;
    return draw_jobs(*mix, draw);
  };
  return stream;
}

Result<JobStream> open(const TableSource& source, OptionalCluster cluster) {
  if (!cluster) return needs_cluster(source.path);
  auto workload = read_job_table(source.path);
  if (!workload) return workload.error();
  return trace_stream(std::move(*cluster), std::move(*workload), source.first_jobs);
}

Result<JobStream> open(const SwfSource& source, OptionalCluster cluster) {
  SwfOptions options;
  options.platform = only_platform(cluster);
  auto trace = read_swf(source.path, options);
  if (!trace) return trace.error();
  Cluster machines = cluster ? std::move(*cluster) : swf_cluster(*trace);
  return trace_stream(std::move(machines), std::move(trace->workload), source.first_jobs);
}

Result<JobStream> open(const PhillySource& source, OptionalCluster cluster) {
  if (!cluster) return needs_cluster(source.path);
  PhillyOptions options;
  options.platform = only_platform(cluster);
  auto workload = read_philly_trace(source.path, options);
  if (!workload) return workload.error();
  return trace_stream(std::move(*cluster), std::move(*workload), source.first_jobs);
}

Result<JobStream> open(const GavelTraceSource& source, OptionalCluster cluster) {
  const auto throughputs = read_gavel_table(source.folder);
  if (!throughputs) return throughputs.error();
  const std::string traces = source.folder + "/traces.csv.gz";
  const auto text = read_file(traces);
  if (!text) return text.error();
  const auto jobs = parse_gavel_traces(*text, traces);
  if (!jobs) return jobs.error();
  auto workload = with_forecasts(gavel_workload(*throughputs, *jobs, source.trace));
  if (!workload) return workload.error();
  return trace_stream(gavel_cluster(std::move(cluster), *throughputs), std::move(*workload), source.first_jobs);
}

Result<JobStream> open(const GavelSource& source, OptionalCluster cluster) {
  if (Status good = check_above_0(source.jobs_per_hour, "jobs_per_hour", "4"); !good) return good.error();
  auto throughputs = read_gavel_table(source.folder);
  if (!throughputs) return throughputs.error();
  GavelTraceOptions options;
  options.jobs = source.jobs;
  options.jobs_per_hour = source.jobs_per_hour;
  JobStream stream;
  stream.cluster = gavel_cluster(std::move(cluster), *throughputs);
  stream.generated = true;
  stream.arrivals_per_s = options.jobs_per_hour / 3600;
  stream.source = fmt::format("Gavel's continuous trace, {} jobs per hour", options.jobs_per_hour);
  stream.jobs = [throughputs = std::make_shared<const GavelThroughputs>(std::move(*throughputs)),
                 options](uint64_t seed) mutable {
    options.seed = seed;
    return with_forecasts(generate_gavel_trace(*throughputs, options));
  };
  return stream;
}

Result<JobStream> open(const SyntheticSource& source, OptionalCluster cluster) {
  if (Status good = check_above_0(source.load, "load", "0.7"); !good) return good.error();
  SwfSyntheticOptions options;
  options.platform = only_platform(cluster);
  if (source.jobs) options.jobs = *source.jobs;
  if (source.load) options.load = *source.load;
  JobStream stream;
  if (cluster) {
    stream.cluster = std::move(*cluster);
  } else {
    NodeGroup group;
    group.platform = options.platform;
    group.nodes = kSyntheticProcessors;
    stream.cluster.groups.push_back(group);
  }
  stream.generated = true;
  stream.source = "a synthetic trace like that of the KTH SP2";
  stream.jobs = [options](uint64_t seed) mutable {
    options.seed = seed;
    return synthetic_swf(options);
  };
  return stream;
}

}  // namespace

Result<JobStream> open_job_stream(JobStreamRequest request) {
  if (Status good = check_above_0(request.rate_factor, "rate_factor", "1.5"); !good) return good.error();
  if (Status good = check_above_0(request.deadline_factor, "deadline_factor", "3"); !good) return good.error();
  if (Status good = check_above_0(request.default_limit_s, "default_limit_s", "3600"); !good) return good.error();
  if (request.cluster) {
    if (Status checked = check_cluster(*request.cluster); !checked) return checked.error();
  }
  auto stream =
      std::visit([&](auto& source) { return open(std::move(source), std::move(request.cluster)); }, request.source);
  if (!stream) return stream;
  stream->arrivals_per_s *= request.rate_factor;
  stream->jobs = [jobs = std::move(stream->jobs), cluster = stream->cluster, factor = request.rate_factor,
                  deadlines = request.deadline_factor,
                  limit_s = request.default_limit_s](uint64_t seed) -> Result<Workload> {
    auto workload = jobs(seed);
    if (!workload) return workload;
    scale_arrivals(*workload, factor);
    if (limit_s) {
      const auto set = set_default_limits(*workload, *limit_s);
      if (!set) return set.error();
      if (*set > 0) workload->notes.push_back(fmt::format("{} jobs without a limit were given one", *set));
    }
    if (deadlines) {
      if (Status set = set_deadlines(*workload, cluster, *deadlines); !set) return set.error();
    }
    return workload;
  };
  return stream;
}

}  // namespace perfcast::fleet
