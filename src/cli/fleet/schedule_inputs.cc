#include "cli/fleet/schedule_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "base/csv.h"
#include "base/text.h"
#include "cli/option_table.h"
#include "cli/shared/amount_option.h"
#include "cli/shared/duration_option.h"
#include "cli/shared/forecast_input.h"
#include "cli/shared/named_file.h"
#include "fleet/jobs/cluster_file.h"
#include "fleet/plan/impossible_jobs.h"
#include "place/jobs/instance_groups.h"
#include "place/jobs/profile_mix.h"
#include "place/jobs/program_mix.h"

namespace perfcast::cli {
namespace {

// Which sources an option is for; of all others it says nothing.
struct SourceOption {
  const char* option;
  const char* sources;  // those that it is for, by their options, separated by blanks
};
constexpr SourceOption kSourceOptions[] = {
    {"--load", "--mix --profile --synthetic"},
    {"--jobs-per-hour", "--mix --profile --gavel"},
    {"--arrivals", "--mix --profile"},
    {"--length-sigma", "--mix --profile"},
    {"--profile-weights", "--profile"},
    {"--host", "--profile"},
    {"--bundle", "--profile"},
    {"--mean-job", "--mix"},
    {"--cores-per-job", "--mix"},
    {"--measured-on", "--mix"},
    {"--model", "--mix"},
    {"--corpus", "--mix"},
    {"--groups", "--mix"},
    {"--platforms", "--mix"},
    {"--every-profile", "--mix"},
    {"--source", "--mix"},
    {"--features", "--mix"},
    {"--complete", "--mix"},
    {"--minimum-coverage", "--mix"},
    {"--minimum-servers", "--mix"},
    {"--minimum-programs", "--mix"},
    {"--segments", "--mix"},
    {"--gavel-trace", "--gavel"},
};
constexpr const char* kSources[] = {"--mix", "--profile", "--swf", "--table", "--gavel", "--philly", "--synthetic"};

const std::map<std::string, fleet::Arrivals::Kind>& arrival_kinds() {
  static const std::map<std::string, fleet::Arrivals::Kind> kKinds = {{"poisson", fleet::Arrivals::Kind::kPoisson},
                                                                      {"batch", fleet::Arrivals::Kind::kBatch},
                                                                      {"interval", fleet::Arrivals::Kind::kInterval},
                                                                      {"bursty", fleet::Arrivals::Kind::kBursty}};
  return kKinds;
}

bool given(const ScheduleArguments& arguments, const char* option) {
  return arguments.verb->get_option(option)->count() > 0;
}

// Weights of profiles that aren't there, and profiles that aren't there.
Status check_profile_options(const ScheduleArguments& arguments) {
  if (!arguments.weights.empty() && arguments.weights.size() != arguments.profiles.size()) {
    return usage_error("bad-usage",
                       fmt::format("{} weights for {} profiles", arguments.weights.size(), arguments.profiles.size()),
                       "--profile-weights", "as many as --profile names, in its order");
  }
  return check_profiles(arguments.profiles);
}

// Only of an instance type does anybody know how many cores a node has.
Status check_cores(const ScheduleArguments& arguments, const fleet::Cluster& cluster) {
  if (arguments.nodes.empty()) return {};
  for (const fleet::NodeGroup& group : cluster.groups) {
    if (group.cores_stated) continue;
    return usage_error("bad-cluster", "nothing says how many cores a node of '" + printable(group.platform) + "' has",
                       "--nodes", "PLATFORM=NODESxCORES; an instance type's vCPUs are known with --mix and --profile");
  }
  return {};
}

// The one source that is named.
Result<std::string> source_of(const ScheduleArguments& arguments) {
  std::vector<std::string> named;
  for (const char* source : kSources) {
    if (given(arguments, source)) named.emplace_back(source);
  }
  if (named.size() == 1) return named.front();
  return usage_error(
      "bad-usage", named.empty() ? "nothing says where the jobs come from" : "jobs come from one source", "",
      "one of --mix, --profile FILES, --swf FILE, --table FILE, --gavel FOLDER, --philly FILE, --synthetic");
}

Status check_options_of(const std::string& source, const ScheduleArguments& arguments) {
  for (const SourceOption& each : kSourceOptions) {
    const std::vector<std::string> sources = split(each.sources, ' ');
    if (!given(arguments, each.option) || std::find(sources.begin(), sources.end(), source) != sources.end()) continue;
    const std::string name = each.option;
    const bool rate = name == "--load" || name == "--jobs-per-hour";
    if (rate) {
      return usage_error("bad-usage", "the source has arrivals of its own", name,
                         "--rate-factor, to make them come faster");
    }
    return usage_error("bad-usage", fmt::format("{} has no effect with {}", name, source), name,
                       fmt::format("{} with {}", name, join(sources, " or ")));
  }
  if (!arguments.gavel_trace.empty() && arguments.jobs_per_hour) {
    return usage_error("bad-usage", "the source has arrivals of its own", "--jobs-per-hour",
                       "--rate-factor, to make them come faster");
  }
  if (arguments.load && arguments.jobs_per_hour) {
    return usage_error("bad-usage", "arrivals have a load and a rate", "--load", "either --load or --jobs-per-hour");
  }
  return {};
}

// What the command line itself says of machines is wrong usage; what stands in a file is wrong data.
Error as_named(Error error, const ScheduleArguments& arguments) {
  if (!arguments.nodes.empty()) error.kind = ErrorKind::kUsage;
  return error;
}

Result<std::optional<fleet::Cluster>> read_cluster_option(const ScheduleArguments& arguments) {
  if (!arguments.cluster_file.empty() && !arguments.nodes.empty()) {
    return usage_error("bad-usage", "the cluster is given twice", "--cluster",
                       "--cluster FILE or --nodes PLATFORM=NODESxCORES");
  }
  if (arguments.cluster_file.empty() && arguments.nodes.empty()) return std::optional<fleet::Cluster>();
  if (Status there = check_named_file("--cluster", arguments.cluster_file); !there) return there.error();
  auto cluster =
      arguments.nodes.empty() ? fleet::read_cluster(arguments.cluster_file) : fleet::parse_node_groups(arguments.nodes);
  if (!cluster) return as_named(cluster.error(), arguments);
  if (Status checked = fleet::check_cluster(*cluster); !checked) return as_named(checked.error(), arguments);
  return std::optional<fleet::Cluster>(std::move(*cluster));
}

// A cluster's groups with what the source of the jobs knows of them.
struct KnownMachines {
  std::vector<program::Server> servers;
  std::vector<place::GroupMachine> machines;
};

Result<fleet::ProgramMix> read_mix(const CommonOptions& common, const ScheduleArguments& arguments,
                                   fleet::Cluster& cluster, KnownMachines& known) {
  auto loaded = load_table(common, arguments.corpus_table);
  if (!loaded) return loaded.error();
  auto machines =
      place::find_machines(cluster, loaded->table.platforms, loaded->servers, "with enough runs in the corpus");
  if (!machines) {
    Error error = as_named(machines.error(), arguments);
    if (error.code == "missing-platform") error.expected += "; or CPU models with fewer runs: --minimum-programs N";
    return error;
  }
  known = {std::move(loaded->servers), std::move(*machines)};
  place::ProgramMixRequest request;
  request.servers = &known.servers;
  request.scaling = loaded->scaling.get();
  request.corpus = common.corpus;
  request.model = arguments.model;
  request.mean_job_s = arguments.mean_job_s;
  request.cores = arguments.cores_per_job;
  request.measured_on = arguments.measured_on;
  request.seed = common.seed;
  request.threads = common.threads;
  ProgressLine progress(common);
  request.progress = [&progress](const std::string& text) { progress.show("forecasts: " + text); };
  auto mix = place::make_program_mix(loaded->table, cluster, known.machines, request);
  if (mix || mix.error().code != "empty-corpus") return mix;
  Error error = mix.error();
  error.expected += "; see perfcast corpus info";
  return error;
}

Result<fleet::ProgramMix> read_profile_mix(const CommonOptions& common, const ScheduleArguments& arguments,
                                           fleet::Cluster& cluster, KnownMachines& known) {
  const auto forecaster = open_forecaster(common);
  if (!forecaster) return forecaster.error();
  const program::Bundle& bundle = forecaster->bundle();
  auto machines = place::find_machines(cluster, bundle.platforms, bundle.servers, "of the bundle");
  if (!machines) return as_named(machines.error(), arguments);
  known = {bundle.servers, std::move(*machines)};
  place::ProfileMixRequest request;
  request.host = arguments.host;
  for (const std::string& given : arguments.profiles) {
    auto profile = read_given_profile(given);
    if (!profile) return profile.error();
    if (Status status = program::check_success(*profile, false); !status) return status.error();
    request.parts.push_back(
        {std::move(*profile), arguments.weights.empty() ? 1 : arguments.weights[request.parts.size()]});
  }
  auto mix = place::make_profile_mix(*forecaster, cluster, known.machines, request);
  if (!mix) return mix.error();
  return mix;
}

Result<fleet::JobSource> job_source(const CommonOptions& common, const ScheduleArguments& arguments,
                                    std::optional<fleet::Cluster>& cluster, KnownMachines& known) {
  if (arguments.synthetic) {
    fleet::SyntheticSource source;
    if (arguments.jobs > 0) source.jobs = arguments.jobs;
    source.load = arguments.load;
    return fleet::JobSource(source);
  }
  if (!arguments.gavel.empty() && !arguments.gavel_trace.empty()) {
    return fleet::JobSource(fleet::GavelTraceSource{arguments.gavel, arguments.gavel_trace, arguments.jobs});
  }
  if (!arguments.gavel.empty()) {
    fleet::GavelSource source{arguments.gavel};
    if (arguments.jobs > 0) source.jobs = arguments.jobs;
    if (arguments.jobs_per_hour) source.jobs_per_hour = *arguments.jobs_per_hour;
    return fleet::JobSource(std::move(source));
  }
  if (!arguments.swf.empty()) return fleet::JobSource(fleet::SwfSource{arguments.swf, arguments.jobs});
  if (!arguments.philly.empty()) return fleet::JobSource(fleet::PhillySource{arguments.philly, arguments.jobs});
  if (!arguments.table.empty()) return fleet::JobSource(fleet::TableSource{arguments.table, arguments.jobs});
  fleet::MixSource source;
  if (cluster) {  // without one the stream says what is missing
    auto mix = arguments.mix ? read_mix(common, arguments, *cluster, known)
                             : read_profile_mix(common, arguments, *cluster, known);
    if (!mix) return mix.error();
    source.mix = std::move(*mix);
  }
  if (arguments.jobs > 0) source.jobs = arguments.jobs;
  source.arrivals = arrival_kinds().at(arguments.arrivals);
  source.load = arguments.load;
  source.jobs_per_hour = arguments.jobs_per_hour;
  source.length_sigma = arguments.length_sigma;
  return fleet::JobSource(std::move(source));
}

// Errors about a field, by the option that it came from.
Error with_option(Error error) {
  static const std::map<std::string, const char*> kOptions = {
      {"load", "--load"},
      {"jobs_per_hour", "--jobs-per-hour"},
      {"rate_factor", "--rate-factor"},
      {"deadline_factor", "--deadline-factor"},
      {"default_limit_s", "--default-limit"},
      {"measured_on", "--measured-on"},
      {"model", "--model"},
      {"cluster", "--cluster"},
  };
  if (error.kind != ErrorKind::kUsage) return error;
  const auto option = kOptions.find(error.where);
  if (option == kOptions.end()) return error;
  error.where = option->second;
  if (error.where == "--cluster") {
    error.expected = "--cluster FILE (perfcast.cluster/1), or --nodes \"PLATFORM=NODESxCORES\" for each platform";
  }
  return error;
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

void say_impossible_jobs(const CommonOptions& common, const fleet::JobStream& stream,
                         const std::vector<fleet::NodeGroup>& groups) {
  if (common.quiet) return;
  const auto workload = stream.jobs(common.seed);
  if (!workload) return;  // the use case says why
  const std::string note = fleet::impossible_note(*workload, fleet::impossible_jobs(*workload, groups));
  if (!note.empty()) std::fprintf(stderr, "perfcast: warning: %s\n", printable(note).c_str());
}

Result<fleet::JobStream> read_job_stream(const CommonOptions& common, const ScheduleArguments& arguments) {
  const auto source = source_of(arguments);
  if (!source) return source.error();
  if (Status good = check_options_of(*source, arguments); !good) return good.error();
  for (const auto& [option, path] : {std::pair{"--swf", arguments.swf},
                                     {"--table", arguments.table},
                                     {"--gavel", arguments.gavel},
                                     {"--philly", arguments.philly}}) {
    if (Status there = check_named_file(option, path); !there) return there.error();
  }
  if (Status good = check_profile_options(arguments); !good) return good.error();
  fleet::JobStreamRequest request;
  auto cluster = read_cluster_option(arguments);
  if (!cluster) return cluster.error();
  const auto prices = read_prices(arguments.prices);
  if (!prices) return prices.error();
  if (*prices && !*cluster) {
    return usage_error("bad-usage", "prices are of a cluster's nodes, and no cluster is given", "--prices",
                       "--cluster FILE or --nodes INSTANCE=NODES beside it");
  }
  KnownMachines known;
  auto jobs = job_source(common, arguments, *cluster, known);
  if (!jobs) return with_option(jobs.error());
  if (*cluster) {
    if (Status stated = check_cores(arguments, **cluster); !stated) return stated.error();
    if (*prices) {
      if (Status taken = place::take_prices(**prices, known.machines, known.servers, **cluster); !taken)
        return taken.error();
    }
  }
  request.source = std::move(*jobs);
  request.cluster = std::move(*cluster);
  request.rate_factor = arguments.rate_factor;
  request.deadline_factor = arguments.deadline_factor;
  request.default_limit_s = arguments.default_limit_s;
  auto stream = fleet::open_job_stream(std::move(request));
  if (!stream) return with_option(stream.error());
  if (arguments.nodes.empty()) return stream;
  const auto workload = stream->jobs(common.seed);
  if (!workload) return workload.error();
  if (const auto columns = fleet::match_platforms(stream->cluster, *workload); !columns) {
    return as_named(columns.error(), arguments);
  }
  return stream;
}

void add_schedule_options(CLI::App& verb, ScheduleArguments& arguments) {
  arguments.verb = &verb;
  const char* const jobs = "Where jobs come from (one of these)";
  add_basic(verb, "--mix", arguments.mix,
            "Jobs are programs of the corpus. Each is forecast by a model that never saw its family.");
  add_basic(verb, "--profile", arguments.profiles, "FILE",
            "Jobs are your own programs, by their profiles; last is your latest. Repeatable.");
  add_basic(verb, "--swf", arguments.swf, "FILE",
            "Jobs come from a trace in the Standard Workload Format, plain or .gz.");
  add_basic(verb, "--table", arguments.table, "FILE", "Jobs come from your own CSV.");
  add_advanced(verb, "--gavel", arguments.gavel, "FOLDER",
               "Simulates Gavel's continuous trace, from this folder of its throughput tables.")
      ->group(jobs);
  add_advanced(verb, "--gavel-trace", arguments.gavel_trace, "FILE",
               "Takes one of the recorded traces in Gavel's folder instead.")
      ->group(jobs);
  add_advanced(verb, "--philly", arguments.philly, "FILE", "Reads Microsoft's Philly trace: CSV, plain or .gz.")
      ->group(jobs);
  add_advanced(verb, "--synthetic", arguments.synthetic, "Makes a trace like that of the KTH SP2.")->group(jobs);

  const char* const machines = "Machines";
  add_basic(verb, "--cluster", arguments.cluster_file, "FILE",
            "Reads the groups of nodes from this file (JSON, perfcast.cluster/1).");
  add_basic(verb, "--nodes", arguments.nodes, "PLATFORM=NODESxCORES",
            "Names the nodes, in place of a file. With --mix and --profile you can also name instances, such as \"aws "
            "c7i.xlarge=4\". Repeatable.")
      ->take_all()
      ->allow_extra_args(false);
  add_price_options(verb, arguments.prices,
                    "A price list (CSV, SkyPilot's catalogue, AWS's or Azure's JSON) for nodes that are instances.",
                    machines);

  const char* const stream = "The stream of jobs";
  add_advanced(verb, "--jobs", arguments.jobs, "N",
               "How many jobs there are. Of a trace, the first ones are taken. Default: all jobs of a trace, 10000 "
               "with --mix, 3000 with --gavel.")
      ->check(CLI::Range(int64_t{1}, int64_t{100000000}))
      ->group(stream);
  add_basic(verb, "--load", arguments.load, "SHARE",
            "The load: which share of the cluster the arriving jobs need on average, such as 0.9.");
  add_advanced(verb, "--arrivals", arguments.arrivals, "KIND",
               "How jobs of --mix and --profile arrive: poisson, batch, interval or bursty.")
      ->check(CLI::IsMember(arrival_kinds()))
      ->capture_default_str()
      ->group(stream);
  takes_duration(
      add_advanced(verb, "--default-limit", arguments.default_limit_s, "TIME",
                   "The time limit of jobs that state none. A job that runs longer gets its run time as limit."))
      ->group(stream);
  add_advanced(verb, "--rate-factor", arguments.rate_factor, "FACTOR", "Makes jobs arrive this many times as fast.")
      ->capture_default_str()
      ->group(stream);
  add_advanced(
      verb, "--jobs-per-hour", arguments.jobs_per_hour, "N",
      "How many jobs arrive per hour, in place of --load. For --mix, --profile and --gavel. Default with --gavel: 4.")
      ->group(stream);
  add_advanced(verb, "--deadline-factor", arguments.deadline_factor, "FACTOR",
               "Sets each job's deadline: its arrival, plus this many times its run time on its fastest platform of "
               "the cluster. It replaces deadlines of the source.")
      ->group(stream);
  takes_duration(add_advanced(verb, "--mean-job", arguments.mean_job_s, "TIME",
                              "The mean length of a job of --mix over the platforms."))
      ->capture_default_str()
      ->group(stream);
  takes_amount(add_advanced(verb, "--length-sigma", arguments.length_sigma, "SIGMA",
                            "The log-normal spread of the job lengths of --mix and --profile."))
      ->capture_default_str()
      ->group(stream);
  add_advanced(verb, "--cores-per-job", arguments.cores_per_job, "N", "Cores that each job of --mix asks for.")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str()
      ->group(stream);
  add_advanced(verb, "--measured-on", arguments.measured_on, "PLATFORM",
               "The platform of the cluster where each program of --mix was run once. Default: its mean time over the "
               "cluster is known.")
      ->group(stream);
  add_advanced(verb, "--profile-weights,--weights", arguments.weights, "N,N,...",
               "The share of each of several profiles in the jobs. Default: equal shares.")
      ->delimiter(',')
      ->group(stream);
  add_advanced(verb, "--host", arguments.host, "PLATFORM",
               "The platform that the profiles were taken on, if its CPU hides its name.")
      ->group(stream);
  add_advanced(verb, "--model", arguments.model, "NAME",
               "The model that forecasts the jobs of --mix: one of evaluate --models.")
      ->capture_default_str()
      ->group(stream);
  add_table_options(verb, arguments.corpus_table);
}

}  // namespace perfcast::cli
