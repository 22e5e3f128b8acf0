// perfcast predict: how a program that was measured here, or a stored profile, would run on every known platform.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process/duration.h"
#include "base/process/interrupt.h"
#include "base/process/program_inspector.h"
#include "base/text.h"
#include "cli/choices.h"
#include "cli/command.h"
#include "cli/forecast/predict_kernels.h"
#include "cli/option_table.h"
#include "cli/shared/around_options.h"
#include "cli/shared/energy_options.h"
#include "cli/shared/forecast_input.h"
#include "cli/shared/forecast_text.h"
#include "cli/shared/named_file.h"
#include "cli/shared/price_options.h"
#include "profile/collect/collector.h"
#include "program/corpus/importers/nvidia_profiler_importers.h"
#include "program/forecast/forecast.h"
#include "program/forecast/workload_forecast.h"

namespace perfcast::cli {
namespace {

constexpr size_t kRowsShown = 10;
// A forecast is less sure than the time of one run of a second.
constexpr double kNativeSeries_s = 1;

struct PredictArguments {
  std::vector<std::string> profiles;
  std::vector<double> weights;
  std::string limit, save_profile, process, host, from;
  PriceArguments prices;
  std::string reference = "mean", explain_platform, explain_against;
  std::vector<std::string> measured, filters;
  size_t top = 0;
  bool all = false;
  int repeats = 3;
  bool instances = false, explain = false, accept_failure = false, exact = false, quick = false, strict = false,
       cheapest = false;
  bool csv = false, markdown = false;
  std::optional<double> copies;
  bool all_cores = false;
  double within = 1.2;
  AroundRun around;
  std::optional<program::ForecastRequest::Sort> sort;
  EnergyOptions energy;
};

bool is_explained(const PredictArguments& arguments) {
  return arguments.explain || !arguments.explain_platform.empty() || !arguments.explain_against.empty();
}

Result<std::vector<std::pair<std::string, double>>> parse_measured(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, double>> measured;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      return usage_error("bad-usage", "'" + printable(text) + "' is no measurement", "--measured",
                         "PLATFORM=SECONDS, such as \"AMD EPYC 7763=12.5\"");
    }
    const std::string value = text.substr(equals + 1);
    std::optional<double> seconds = parse_number(value);
    if (!seconds) {
      const auto duration = parse_duration_s(value, "--measured");
      if (!duration) return duration.error();
      seconds = *duration;
    }
    measured.emplace_back(trim(text.substr(0, equals)), *seconds);
  }
  return measured;
}

// What holds for one program alone, or for several alone.
Status check_workload(const PredictArguments& arguments) {
  if (!arguments.weights.empty() && arguments.weights.size() != arguments.profiles.size()) {
    return usage_error("bad-usage",
                       std::to_string(arguments.weights.size()) + " weights for " +
                           std::to_string(arguments.profiles.size()) + " stored profiles",
                       "--profile-weights", "as many as --profile names, in its order");
  }
  if (arguments.profiles.size() < 2) return {};
  const std::pair<const char*, bool> of_one_program[] = {{"--save-profile", !arguments.save_profile.empty()},
                                                         {"--process", !arguments.process.empty()},
                                                         {"--explain", arguments.explain},
                                                         {"--explain-platform", !arguments.explain_platform.empty()},
                                                         {"--explain-against", !arguments.explain_against.empty()},
                                                         {"--energy", arguments.energy.energy},
                                                         {"--measured-energy", !arguments.energy.measured.empty()},
                                                         {"--power-model", !arguments.energy.models.empty()},
                                                         {"--frequencies", !arguments.energy.frequencies.empty()}};
  for (const auto& [option, given] : of_one_program) {
    if (given)
      return usage_error("bad-usage", "several profiles, where one is meant", option, "one --profile, or none of this");
  }
  return {};
}

Status check_usage(const PredictArguments& arguments, const CommandContext& context) {
  const char* const usage = "perfcast predict -- CMD ARGS..., or perfcast predict --profile p.json";
  if (context.command.size() == 1 && (context.command[0] == "last" || context.command[0].ends_with(".json")) &&
      find_in_path(context.command[0]).empty()) {
    return usage_error("bad-usage", "'" + printable(context.command[0]) + "' is no program", "",
                       "perfcast predict --profile " + context.command[0]);
  }
  if (arguments.profiles.empty() && context.command.empty()) {
    return usage_error("bad-usage", "nothing to forecast", "", usage);
  }
  if (!arguments.profiles.empty() && !context.command.empty()) {
    return usage_error("bad-usage", "both a stored profile and a command", "--profile", usage);
  }
  const std::pair<const char*, bool> of_measuring[] = {{"--time-limit", !arguments.limit.empty()},
                                                       {"--quick", arguments.quick},
                                                       {"--exact", arguments.exact},
                                                       {"--prepare", !arguments.around.prepare.empty()},
                                                       {"--cleanup", !arguments.around.cleanup.empty()}};
  for (const auto& [option, given] : of_measuring) {
    if (given && !arguments.profiles.empty()) {
      return usage_error("bad-usage", "a stored profile is not measured again", option,
                         std::string(option) + " with a command, or --profile without it");
    }
  }
  if (!arguments.from.empty() && arguments.profiles.size() != 1) {
    return usage_error("bad-usage", "the output of a profiler is one file", "--from",
                       "perfcast predict --profile kernels.csv --from " + arguments.from);
  }
  for (const auto& [option, given] : {std::pair{"--process", !arguments.process.empty()},
                                      std::pair{"--save-profile", !arguments.save_profile.empty()}}) {
    if (given && !arguments.from.empty())
      return usage_error("bad-usage", "the kernels of the file are forecast together", option, "none of it");
  }
  if (arguments.sort == program::ForecastRequest::Sort::kCost && arguments.prices.path.empty()) {
    return usage_error("bad-usage", "costs need prices", "--sort cost", "--prices FILE beside it");
  }
  if (Status workload = check_workload(arguments); !workload) return workload;
  if (Status there = check_profiles(arguments.profiles); !there) return there;
  if (Status there = check_named_file("--prices", arguments.prices.path); !there) return there;
  for (const auto& [option, path] :
       {std::pair{"--save-profile", arguments.save_profile}, {"-o", context.options.output}}) {
    if (Status writable = check_output_file(option, path); !writable) return writable;
  }
  return {};
}

Result<Profile> measure(const PredictArguments& arguments, const CommandContext& context) {
  CollectRequest request;
  request.command = context.command;
  request.native_repeats = arguments.repeats;
  request.native_series_s = kNativeSeries_s;
  request.around = arguments.around;
  request.exact = arguments.exact;
  request.quick = arguments.quick;
  request.core_designs = shipped_core_designs();
  request.needs_counts = true;
  request.must_succeed = !arguments.accept_failure;
  request.pass_output = false;
  request.show_output = context.options.show_output;
  if (!arguments.limit.empty()) {
    const auto limit_s = parse_duration_s(arguments.limit, "--time-limit");
    if (!limit_s) return limit_s.error();
    request.limit_s = *limit_s;
  }
  ProgressLine line(context.options);
  return profile_command(request, [&line](const std::string& text) { line.show(text); });
}

// A profile took minutes: whatever goes wrong from here on, it is there.
void keep_profile(const Profile& profile, const CommonOptions& options) {
  if (keep_last_profile(to_text(to_json(profile))) && !options.quiet)
    std::fputs("perfcast: the profile is kept for this folder: predict --profile last\n", stderr);
}

// Kernels have tables of their own: what only those of programs have.
Status check_kernels(const PredictArguments& arguments) {
  const std::pair<const char*, bool> of_programs[] = {
      {"--measured", !arguments.measured.empty()}, {"--reference", arguments.reference != "mean"},
      {"--instances", arguments.instances},        {"--copies", arguments.copies.has_value()},
      {"--all-cores", arguments.all_cores},        {"--prices", !arguments.prices.path.empty()},
      {"--sort", arguments.sort.has_value()},      {"--host", !arguments.host.empty() && arguments.from.empty()},
      {"--energy", arguments.energy.energy},       {"--explain", is_explained(arguments)}};
  for (const auto& [option, given] : of_programs) {
    if (!given) continue;
    return usage_error("bad-usage", "the profile has GPU or OpenCL kernels, which are forecast together", option,
                       "none of it; or one kernel: --process KERNEL --bundle FILE");
  }
  return {};
}

// Of a profile with kernels; absent: they are none of the bundle's business.
Result<std::optional<std::string>> forecast_of_kernels(const PredictArguments& arguments, const Profile& profile,
                                                       const CommandContext& context) {
  const bool is_of_kernels = !arguments.from.empty() || (arguments.process.empty() && has_kernels(profile));
  if (!is_of_kernels) return std::optional<std::string>();
  if (Status usable = check_kernels(arguments); !usable) return usable.error();
  if (Status status = program::check_success(profile, arguments.accept_failure); !status) return status.error();
  KernelView view;
  view.host = arguments.host;
  view.filters = arguments.filters;
  view.most_rows = arguments.all ? 0 : arguments.top > 0 ? arguments.top : kRowsShown;
  view.csv = arguments.csv;
  view.is_markdown = arguments.markdown;
  return kernel_forecast_text(profile, view, context.options);
}

Result<program::ForecastReport> forecast_several(const program::Forecaster& forecaster,
                                                 const PredictArguments& arguments,
                                                 const program::ForecastRequest& request) {
  std::vector<program::WorkloadPart> parts;
  for (const std::string& given : arguments.profiles) {
    auto profile = read_given_profile(given);
    if (!profile) return profile.error();
    if (Status status = program::check_success(*profile, arguments.accept_failure); !status) return status.error();
    parts.push_back({std::move(*profile), arguments.weights.empty() ? 1 : arguments.weights[parts.size()]});
  }
  return program::forecast_workload(forecaster, parts, request);
}

std::string text_of(program::ForecastReport report, const PredictArguments& arguments, const CommonOptions& options) {
  if (!report.in_distribution && !options.quiet && options.output != "-") {
    std::fputs("perfcast: warning: out of distribution: see the forecast\n", stderr);
  }
  if (options.quiet && !options.json) report.notes.clear();
  if (options.json) return to_text(to_json(report));
  if (arguments.csv) {
    const bool instances = arguments.instances || !arguments.prices.path.empty();
    return instances ? instances_csv(report) : forecast_csv(report);
  }
  ForecastView view;
  view.explain = is_explained(arguments);
  view.answer_only = arguments.cheapest;
  view.most_rows = arguments.all ? 0 : arguments.top > 0 ? arguments.top : kRowsShown;
  view.most_instances = arguments.all ? 0 : kRowsShown;
  view.is_markdown = arguments.markdown;
  view.is_coloured = !arguments.markdown && options.output == "-" && is_colour_wanted();
  return forecast_text(report, view);
}

Result<program::ForecastRequest> request_of(const PredictArguments& arguments, const CommandContext& context) {
  program::ForecastRequest request;
  request.reference = arguments.reference;
  request.filters = arguments.filters;
  request.top = arguments.top;
  request.instances = arguments.instances;
  request.host = arguments.host;
  request.use = {arguments.copies, arguments.all_cores};
  request.within_ratio = arguments.within;
  request.sort = arguments.sort;
  request.instances |= (arguments.copies || arguments.all_cores) && arguments.prices.path.empty();
  request.strict = arguments.strict;
  request.explain_platform = arguments.explain_platform;
  request.explain_against = arguments.explain_against;
  request.explain = is_explained(arguments);
  request.reasons = request.explain || context.options.json;
  request.core_designs = shipped_core_designs();
  const auto measured = parse_measured(arguments.measured);
  if (!measured) return measured.error();
  request.measured_s = *measured;
  auto prices = read_prices(arguments.prices);
  if (!prices) return prices.error();
  request.prices = std::move(*prices);
  if (Status taken = take_energy_options(arguments.energy, request); !taken) return taken.error();
  return request;
}

// What is printed.
Result<std::string> forecast(const PredictArguments& arguments, const CommandContext& context) {
  if (Status status = check_usage(arguments, context); !status) return status.error();
  const auto request = request_of(arguments, context);
  if (!request) return request.error();
  std::optional<Profile> profile;
  if (arguments.profiles.size() == 1) {
    auto given = arguments.from.empty() ? read_given_profile(arguments.profiles.front(), context.options.quiet)
                                        : program::read_gpu_profile(arguments.from, arguments.profiles.front());
    if (!given) return given.error();
    auto of_kernels = forecast_of_kernels(arguments, *given, context);
    if (!of_kernels) return of_kernels.error();
    if (*of_kernels) return **std::move(of_kernels);
    if (!arguments.from.empty()) {
      return Error{"no-kernels", "the bundle knows no kernels", context.options.bundle,
                   "a bundle of the model kernels:forest, or none: the shipped one is taken then"};
    }
    profile = std::move(*given);
  }
  // The bundle first: nobody should wait for a profile and then learn that there is no model.
  const auto forecaster = open_forecaster(context.options);
  if (!forecaster) return forecaster.error();
  if (Status status = program::check_request(*forecaster, *request); !status) return status.error();
  if (arguments.profiles.size() > 1) {
    auto several = forecast_several(*forecaster, arguments, *request);
    if (!several) return several.error();
    return text_of(std::move(*several), arguments, context.options);
  }
  if (!profile) {
    auto measured = measure(arguments, context);
    if (!measured) return measured.error();
    profile = std::move(*measured);
    // One that can be forecast goes before one that can't.
    if (program::check_success(*profile, arguments.accept_failure)) keep_profile(*profile, context.options);
  }
  if (!arguments.save_profile.empty()) {
    const Status status = write_file_atomically(arguments.save_profile, to_text(to_json(*profile)), NewFile::kPrivate);
    if (!status) return status.error();
  }
  if (Status status = program::check_success(*profile, arguments.accept_failure); !status) return status.error();
  if (arguments.profiles.empty()) {
    auto of_kernels = forecast_of_kernels(arguments, *profile, context);
    if (!of_kernels) return of_kernels.error();
    if (*of_kernels) return **std::move(of_kernels);
  }
  if (!arguments.process.empty()) {
    auto part = profile_of_part(*profile, arguments.process);
    if (!part) return part.error();
    profile = std::move(*part);
  }
  auto report = program::forecast_program(*forecaster, *profile, *request);
  if (!report) return report.error();
  return text_of(std::move(*report), arguments, context.options);
}

int run(const PredictArguments& arguments, const CommandContext& context) {
  const auto text = forecast(arguments, context);
  return text ? write_result(*text, context.options) : report_error(text.error(), context.options);
}

}  // namespace

void add_predict_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<PredictArguments>();
  CLI::App* verb =
      add_verb(app, {"predict",
                     "Forecasts a program's time on every known CPU model and cloud instance.",
                     "-- COMMAND ARGS...",
                     {"perfcast predict -- ./prog input.dat", "perfcast predict --profile last --prices prices.csv"},
                     "predict"});
  verb->footer(
      "perfcast runs the program natively, then once more under an emulator that counts its instructions. It discards "
      "the program's stdout. A relative time below 1 means faster than the reference. If the program is unlike all "
      "that the models were trained on (out of distribution), the forecast says so, and the exit status is still 0.");
  add_basic(*verb, "--profile", arguments->profiles, "FILE",
            "Forecasts this stored profile and runs nothing. The word last means your latest profile. Give several for "
            "a workload of several programs.");
  add_basic(*verb, "--from", arguments->from, "TOOL",
            "The profile is a file that a profiler of CUDA kernels wrote with --csv: ncu or nvprof. Forecasts its "
            "kernels on GPUs.")
      ->check(CLI::IsMember({"ncu", "nvprof"}))
      ->needs(verb->get_option("--profile"));
  add_advanced(*verb, "--profile-weights,--weights", arguments->weights, "N,N,...",
               "How often each of several profiles runs in one round of the workload. Default: once each.")
      ->delimiter(',');
  add_advanced(*verb, "--reference", arguments->reference, "NAME",
               "What relative times refer to: mean (of the platforms), host, or the name of a platform.")
      ->capture_default_str();
  add_basic(*verb, "--measured", arguments->measured, "PLATFORM=TIME",
            "A time that you measured elsewhere, such as \"AMD EPYC 7763=12.5\". It improves all other forecasts. "
            "Repeatable.")
      ->take_all()
      ->allow_extra_args(false);
  add_basic(
      *verb, "--filter", arguments->filters, "TEXT",
      "Shows only these platforms: kind=cloud, vendor=AMD, arch=aarch64, cloud=aws, instance=c7i.xlarge, vcpus=4..16, "
      "memory=16GiB.., or a part of a name. Repeatable; a platform must meet all filters.")
      ->take_all()
      ->allow_extra_args(false);
  add_advanced(*verb, "--top", arguments->top, "N",
               "Prints only the N fastest platforms. Instances and prices still come from all platforms.")
      ->check(CLI::Range(1, 1000000));
  add_basic(*verb, "--all", arguments->all,
            "Shows every platform in the table. Default: the ten fastest. JSON always has all.");
  add_basic(*verb, "--instances", arguments->instances,
            "Lists the cloud instance types of each CPU model, with runs per hour when all vCPUs are busy.");
  add_advanced(*verb, "--copies", arguments->copies, "N",
               "How many runs share an instance at the same time. Default: as many as fill its vCPUs.")
      ->check(CLI::Range(1.0, 1e6));
  add_advanced(*verb, "--all-cores", arguments->all_cores,
               "Forecasts a single run that uses every vCPU of an instance with one thread each. It assumes that your "
               "program scales as typical applications do.")
      ->excludes(verb->get_option("--copies"));
  add_price_options(
      *verb, arguments->prices,
      "A price list (CSV, SkyPilot's catalogue, AWS's or Azure's JSON). Adds costs and names the cheapest instance.");
  add_advanced(*verb, "--cheapest", arguments->cheapest,
               "Prints only the fastest and the cheapest instance, without tables.")
      ->needs(verb->get_option("--prices"));
  add_advanced(*verb, "--within", arguments->within, "RATIO",
               "Adds the cheapest instance that is at most this many times slower than the fastest.")
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  add_advanced(*verb, "--sort", arguments->sort, "KEY",
               "Sorts platforms and instances by this. Default: platforms by time, instances by cost.")
      ->transform(choices<program::ForecastRequest::Sort>({{"time", program::ForecastRequest::Sort::kTime},
                                                           {"cost", program::ForecastRequest::Sort::kCost},
                                                           {"energy", program::ForecastRequest::Sort::kEnergy},
                                                           {"name", program::ForecastRequest::Sort::kName}}));
  CLI::Option* csv = add_advanced(*verb, "--csv", arguments->csv,
                                  "Prints all platforms as CSV, with unrounded numbers. With --instances or --prices "
                                  "it prints the instances instead.");
  add_advanced(*verb, "--markdown", arguments->markdown, "Prints tables as Markdown, for a page or a pull request.")
      ->excludes(csv);
  add_basic(*verb, "--explain", arguments->explain,
            "Explains the forecast: which counters raise or lower it, what takes the cycles on each core design, and "
            "how perfcast recognised the host.");
  add_advanced(*verb, "--explain-platform", arguments->explain_platform, "PLATFORM",
               "Explains the forecast for this platform, input by input. Default: the first platform of the table.");
  add_advanced(*verb, "--explain-against", arguments->explain_against, "PLATFORM",
               "Explains the difference to this platform. Default: the difference to the mean over all platforms.");
  add_advanced(*verb, "--accept-failure", arguments->accept_failure, "Also forecasts a program that failed.");
  CLI::Option* exact = add_advanced(
      *verb, "--exact", arguments->exact,
      "Simulates caches and branches during the whole run. Default: only in short samples, which is much faster.");
  add_advanced(*verb, "--host", arguments->host, "PLATFORM",
               "The platform that the profile was taken on, if its CPU hides its name. With --from: the GPU.");
  add_advanced(*verb, "--strict", arguments->strict,
               "Ends with an error if a measured time or energy can't be right. Default: a note says so.");
  add_advanced(*verb, "--process", arguments->process, "NAME",
               "Forecasts only this program, if the command starts several.");
  add_basic(*verb, "--time-limit,--limit", arguments->limit, "TIME",
            "Ends the measurement after this time, such as 60s or 2m. Default: no limit.");
  CLI::Option* repeats = add_advanced(*verb, "--repeats", arguments->repeats, "N",
                                      "Runs the program natively at most this often. Long programs run fewer times.")
                             ->check(CLI::Range(1, 1000))
                             ->capture_default_str();
  add_basic(*verb, "--quick", arguments->quick,
            "Measures once and samples less. The forecast comes sooner and is less sure.")
      ->excludes(exact)
      ->excludes(repeats);
  add_around_options(*verb, arguments->around);
  add_advanced(*verb, "--save-profile", arguments->save_profile, "FILE", "Keeps the profile in this file.");
  add_energy_options(*verb, arguments->energy);
  add_common_options(*verb, context, kBundleOption | kShowOutputOption | kQuietOption);
  verb->callback([arguments, &context] { context.run = [arguments, &context] { return run(*arguments, context); }; });
}

}  // namespace perfcast::cli
