#include "cli/schedule_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "schedule/capacity/demand.h"
#include "schedule/capacity/offered_load.h"
#include "schedule/jobs/cluster_file.h"
#include "schedule/traces/gavel_trace.h"
#include "schedule/traces/job_table.h"
#include "schedule/traces/philly_trace.h"
#include "schedule/traces/swf_reader.h"
#include "schedule/traces/swf_synthetic.h"

namespace perfcast {
namespace {

constexpr int64_t kMixJobs = 10000;
constexpr int64_t kGavelJobs = 3000;
constexpr double kUsualLoad = 0.9;
constexpr double kGavelJobsPerHour = 4;

Result<std::optional<Cluster>> read_cluster_option(const ScheduleArguments& arguments) {
  if (!arguments.cluster_file.empty() && !arguments.nodes.empty()) {
    return usage_error("bad-usage", "the cluster is given twice", "--cluster",
                       "--cluster FILE or --nodes PLATFORM=NODESxCORES");
  }
  if (!arguments.cluster_file.empty()) {
    auto cluster = read_cluster(arguments.cluster_file);
    if (!cluster) return cluster.error();
    return std::optional<Cluster>(std::move(*cluster));
  }
  if (arguments.nodes.empty()) return std::optional<Cluster>();
  auto cluster = parse_node_groups(arguments.nodes);
  if (!cluster) return cluster.error();
  return std::optional<Cluster>(std::move(*cluster));
}

Error needs_cluster(const std::string& source) {
  return usage_error("bad-usage", source + " says nothing of the machines", "--cluster",
                     "--cluster FILE (perfcast.cluster/1), or --nodes \"PLATFORM=NODESxCORES\" for each platform");
}

// What is known of Gavel's job types before they run is the table that their times are made of.
Result<Workload> with_forecasts(Result<Workload> workload) {
  if (workload) workload->forecast_s = workload->time_s;
  return workload;
}

// A cluster of one group stands for the trace's own machine, whatever it is called.
std::string only_platform(const std::optional<Cluster>& cluster) {
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
    if (job.after >= jobs) job.after = kNone;
  }
}

Result<Arrivals> arrivals_of(const std::string& name) {
  Arrivals arrivals;
  if (name == "poisson")
    arrivals.kind = Arrivals::Kind::kPoisson;
  else if (name == "batch")
    arrivals.kind = Arrivals::Kind::kBatch;
  else if (name == "interval")
    arrivals.kind = Arrivals::Kind::kInterval;
  else if (name == "bursty")
    arrivals.kind = Arrivals::Kind::kBursty;
  else {
    return usage_error("bad-usage", "no arrivals are called '" + printable(name) + "'", "--arrivals",
                       "poisson, batch, interval or bursty");
  }
  return arrivals;
}

Result<ScheduleInputs> from_mix(const CommonOptions& common, const ScheduleArguments& arguments, Cluster cluster) {
  const auto arrivals = arrivals_of(arguments.arrivals);
  if (!arrivals) return arrivals.error();
  auto mix = mix_from_corpus(common, arguments.corpus_mix, cluster);
  if (!mix) return mix.error();
  MixOptions draw;
  draw.jobs = arguments.jobs > 0 ? arguments.jobs : kMixJobs;
  draw.arrivals = *arrivals;
  if (arguments.jobs_per_hour) {
    draw.arrivals.rate_per_s = *arguments.jobs_per_hour / 3600;
  } else {
    const auto most = highest_rate_per_s(*mix, cluster);
    if (!most) return most.error();
    draw.arrivals.rate_per_s = arguments.load.value_or(kUsualLoad) * *most;
  }
  draw.length_sigma = arguments.length_sigma;
  ScheduleInputs inputs;
  if (draw.arrivals.kind != Arrivals::Kind::kBatch) inputs.arrivals_per_s = draw.arrivals.rate_per_s;
  inputs.cluster = std::move(cluster);
  inputs.generated = true;
  inputs.source = mix->source;
  inputs.jobs = [mix = std::make_shared<const ProgramMix>(std::move(*mix)), draw](uint64_t seed) mutable {
    draw.seed = seed;
    return draw_jobs(*mix, draw);
  };
  return inputs;
}

Result<ScheduleInputs> from_gavel(const ScheduleArguments& arguments, std::optional<Cluster> cluster) {
  const std::string table = arguments.gavel + "/simulation_throughputs_isolated.csv";
  const auto table_text = read_file(table);
  if (!table_text) return table_text.error();
  auto throughputs = parse_gavel_throughputs(*table_text, table);
  if (!throughputs) return throughputs.error();
  ScheduleInputs inputs;
  if (cluster) {
    inputs.cluster = std::move(*cluster);
  } else {  // that of the paper, the newest generation in front
    for (auto platform = throughputs->platforms.rbegin(); platform != throughputs->platforms.rend(); ++platform) {
      NodeGroup group;
      group.platform = *platform;
      group.nodes = 36;
      group.cores_per_node = 0;
      group.gpus_per_node = 1;
      inputs.cluster.groups.push_back(group);
    }
  }
  if (!arguments.gavel_trace.empty()) {
    const std::string traces = arguments.gavel + "/traces.csv.gz";
    const auto text = read_file(traces);
    if (!text) return text.error();
    const auto jobs = parse_gavel_traces(*text, traces);
    if (!jobs) return jobs.error();
    auto workload = with_forecasts(gavel_workload(*throughputs, *jobs, arguments.gavel_trace));
    if (!workload) return workload.error();
    inputs.source = workload->source;
    inputs.jobs = [workload = std::make_shared<const Workload>(std::move(*workload))](uint64_t) {
      return Result<Workload>(*workload);
    };
    return inputs;
  }
  GavelTraceOptions options;
  options.jobs = arguments.jobs > 0 ? arguments.jobs : kGavelJobs;
  options.jobs_per_hour = arguments.jobs_per_hour.value_or(kGavelJobsPerHour);
  inputs.generated = true;
  inputs.arrivals_per_s = options.jobs_per_hour / 3600;
  inputs.source = fmt::format("Gavel's continuous trace, {} jobs per hour", options.jobs_per_hour);
  inputs.jobs = [throughputs = std::make_shared<const GavelThroughputs>(std::move(*throughputs)),
                 options](uint64_t seed) mutable {
    options.seed = seed;
    return with_forecasts(generate_gavel_trace(*throughputs, options));
  };
  return inputs;
}

Result<ScheduleInputs> from_synthetic(const ScheduleArguments& arguments, std::optional<Cluster> cluster) {
  SwfSyntheticOptions options;
  options.platform = only_platform(cluster);
  if (arguments.jobs > 0) options.jobs = arguments.jobs;
  if (arguments.load) options.load = *arguments.load;
  ScheduleInputs inputs;
  if (cluster) {
    inputs.cluster = std::move(*cluster);
  } else {
    NodeGroup group;
    group.platform = options.platform;
    group.nodes = kSyntheticProcessors;
    inputs.cluster.groups.push_back(group);
  }
  inputs.generated = true;
  inputs.source = "a synthetic trace like that of the KTH SP2";
  inputs.jobs = [options](uint64_t seed) mutable {
    options.seed = seed;
    return synthetic_swf(options);
  };
  return inputs;
}

// A trace is one workload for all seeds.
Result<ScheduleInputs> from_trace(const ScheduleArguments& arguments, std::optional<Cluster> cluster) {
  ScheduleInputs inputs;
  Result<Workload> workload = Workload();
  if (!arguments.swf.empty()) {
    SwfOptions options;
    options.platform = only_platform(cluster);
    auto trace = read_swf(arguments.swf, options);
    if (!trace) return trace.error();
    if (!cluster) cluster = swf_cluster(*trace);
    workload = std::move(trace->workload);
  } else if (!arguments.philly.empty()) {
    if (!cluster) return needs_cluster(arguments.philly);
    PhillyOptions options;
    options.platform = only_platform(cluster);
    workload = read_philly_trace(arguments.philly, options);
  } else {
    if (!cluster) return needs_cluster(arguments.table);
    workload = read_job_table(arguments.table);
  }
  if (!workload) return workload.error();
  keep_first(*workload, arguments.jobs);
  inputs.cluster = std::move(*cluster);
  inputs.source = workload->source;
  inputs.jobs = [kept = std::make_shared<const Workload>(std::move(*workload))](uint64_t) {
    return Result<Workload>(*kept);
  };
  return inputs;
}

Status check_rates(const ScheduleArguments& arguments) {
  const auto wrong = [](const char* option, std::string message, std::string expected) {
    return usage_error("bad-usage", std::move(message), option, std::move(expected));
  };
  const auto above_0 = [](double value) { return value > 0 && std::isfinite(value); };
  if (!above_0(arguments.rate_factor)) return wrong("--rate-factor", "it isn't above 0", "such as 1.5");
  if (arguments.load) {
    if (!above_0(*arguments.load)) return wrong("--load", "a load that isn't above 0", "such as 0.9");
    if (arguments.jobs_per_hour) {
      return wrong("--load", "arrivals have a load and a rate", "either --load or --jobs-per-hour");
    }
    if (!arguments.mix && !arguments.synthetic) {
      return wrong("--load", "the source has arrivals of its own", "--rate-factor, to make them come faster");
    }
  }
  if (arguments.jobs_per_hour) {
    if (!above_0(*arguments.jobs_per_hour)) return wrong("--jobs-per-hour", "it isn't above 0", "such as 4");
    if (!arguments.mix && (arguments.gavel.empty() || !arguments.gavel_trace.empty())) {
      return wrong("--jobs-per-hour", "the source has arrivals of its own", "--rate-factor, to make them come faster");
    }
  }
  if (arguments.deadline_factor && !above_0(*arguments.deadline_factor)) {
    return wrong("--deadline-factor", "it isn't above 0", "such as 3");
  }
  return {};
}

}  // namespace

Result<std::vector<double>> parse_ratios(const std::vector<std::string>& texts, const std::string& option,
                                         const std::string& example) {
  std::vector<double> ratios;
  for (const std::string& text : list_of(texts)) {
    const auto ratio = parse_number(text);
    if (!ratio || !(*ratio >= 0) || std::isinf(*ratio)) {
      return usage_error("bad-usage", "'" + printable(text) + "' is no number from 0 on", option,
                         "ratios such as " + example);
    }
    ratios.push_back(*ratio);
  }
  return ratios;
}

Result<ScheduleInputs> read_schedule_inputs(const CommonOptions& common, const ScheduleArguments& arguments) {
  const int sources = int{arguments.mix} + int{arguments.synthetic} + int{!arguments.swf.empty()} +
                      int{!arguments.table.empty()} + int{!arguments.gavel.empty()} + int{!arguments.philly.empty()};
  if (sources != 1) {
    return usage_error("bad-usage",
                       sources == 0 ? "nothing says where the jobs come from" : "jobs come from one source", "",
                       "one of --mix, --swf FILE, --table FILE, --gavel FOLDER, --philly FILE, --synthetic");
  }
  if (Status rates = check_rates(arguments); !rates) return rates.error();
  auto cluster = read_cluster_option(arguments);
  if (!cluster) return cluster.error();
  if (*cluster) {
    if (Status checked = check_cluster(**cluster); !checked) return checked.error();
  }
  Result<ScheduleInputs> inputs = usage_error("bad-usage", "", "", "");
  if (arguments.mix) {
    if (!*cluster) return needs_cluster("a mix of programs");
    inputs = from_mix(common, arguments, std::move(**cluster));
  } else if (!arguments.gavel.empty()) {
    inputs = from_gavel(arguments, std::move(*cluster));
  } else if (arguments.synthetic) {
    inputs = from_synthetic(arguments, std::move(*cluster));
  } else {
    inputs = from_trace(arguments, std::move(*cluster));
  }
  if (!inputs) return inputs;
  inputs->arrivals_per_s *= arguments.rate_factor;
  inputs->jobs = [jobs = std::move(inputs->jobs), cluster = inputs->cluster, factor = arguments.rate_factor,
                  deadlines = arguments.deadline_factor,
                  limit_s = arguments.default_limit_s](uint64_t seed) -> Result<Workload> {
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
  return inputs;
}

void add_schedule_options(CLI::App& verb, ScheduleArguments& arguments) {
  const char* const jobs = "Where jobs come from (one of these)";
  verb.add_flag("--mix", arguments.mix, "Programs of the corpus, with forecasts by a model that never saw their family")
      ->group(jobs);
  verb.add_option("--swf", arguments.swf, "A trace in the Standard Workload Format, plain or .gz")->group(jobs);
  verb.add_option("--table", arguments.table, "Jobs as CSV; see docs/SCHEDULE.md")->group(jobs);
  verb.add_option("--gavel", arguments.gavel, "Folder of Gavel's throughput tables: its continuous trace")->group(jobs);
  verb.add_option("--gavel-trace", arguments.gavel_trace, "One of the recorded traces in that folder instead")
      ->group(jobs);
  verb.add_option("--philly", arguments.philly, "Microsoft's Philly trace as CSV, plain or .gz")->group(jobs);
  verb.add_flag("--synthetic", arguments.synthetic, "A made trace like that of the KTH SP2")->group(jobs);

  const char* const machines = "Machines";
  verb.add_option("--cluster", arguments.cluster_file, "Groups of nodes as JSON, perfcast.cluster/1")->group(machines);
  verb.add_option("--nodes", arguments.nodes, "\"PLATFORM=NODESxCORES[+GPUS]\" (repeatable) instead of a file")
      ->take_all()
      ->allow_extra_args(false)
      ->group(machines);

  const char* const stream = "The stream of jobs";
  verb.add_option("--jobs", arguments.jobs,
                  "How many; of a trace the first so many (default: all; mix 10000; Gavel 3000)")
      ->check(CLI::Range(int64_t{1}, int64_t{100000000}))
      ->group(stream);
  verb.add_option(
          "--load", arguments.load,
          "Arrivals of --mix, as a share of the most that the cluster can carry (default: 0.9); of --synthetic, "
          "of its own 100 processors (default: 0.7)")
      ->group(stream);
  verb.add_option("--arrivals", arguments.arrivals, "Of --mix: poisson, batch, interval, bursty")
      ->capture_default_str()
      ->group(stream);
  verb.add_option("--default-limit", arguments.default_limit_s,
                  "Seconds that jobs without a limit ask for (or their run time, where that is longer)")
      ->check(CLI::PositiveNumber)
      ->group(stream);
  verb.add_option("--rate-factor", arguments.rate_factor, "Arrivals come so many times as fast")
      ->capture_default_str()
      ->group(stream);
  verb.add_option("--jobs-per-hour", arguments.jobs_per_hour,
                  "Arrivals of --gavel (default: 4), and of --mix in the place of a load")
      ->group(stream);
  verb.add_option("--deadline-factor", arguments.deadline_factor,
                  "Each job's deadline: so many times as long after its arrival as it runs on its fastest platform of "
                  "the cluster, in the place of the source's own")
      ->group(stream);
  verb.add_option("--mean-job", arguments.corpus_mix.mean_job_s,
                  "Seconds of a job of --mix, averaged over the platforms")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(stream);
  verb.add_option("--length-sigma", arguments.length_sigma, "Of --mix: log-normal spread of the jobs' lengths")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(stream);
  verb.add_option("--cores-per-job", arguments.corpus_mix.cores, "Of --mix")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str()
      ->group(stream);
  verb.add_option(
          "--measured-on", arguments.corpus_mix.measured_on,
          "Platform of the cluster where each program of --mix was run once; without it, its mean time over the "
          "cluster is what is known")
      ->group(stream);
  verb.add_option("--model", arguments.corpus_mix.model, "What forecasts --mix; see evaluate --models")
      ->capture_default_str()
      ->group(stream);
  add_table_options(verb, arguments.corpus_mix.table);
}

}  // namespace perfcast
