// perfcast llm serve-sim: what a service of a language model delivers under a load.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "ai/serving/cpu_serving_forecast.h"
#include "ai/serving/measured_forecast.h"
#include "ai/serving/serving_events.h"
#include "ai/serving/serving_report.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/ai/llm_cpu_serving.h"
#include "cli/ai/llm_devices.h"
#include "cli/ai/llm_serving_options.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"
#include "cli/shared/table_options.h"

namespace perfcast::cli {
namespace {

constexpr int64_t kMostInFlight = 10'000'000;
constexpr size_t kMostStepsBytes = size_t{4} << 20;

Result<ai::MeasuredSteps> measured_steps(const ServingArguments& arguments) {
  if (!arguments.model.empty()) {
    return usage_error("bad-usage", "a model, and a file of steps that says which it is", "--system", "one of both");
  }
  Status unused =
      check_unused(*arguments.verb, "a system whose steps were measured",
                   {"--on", "--vcpus", "--device-file", "--engine", "--host", "--tensor-parallel", "--data-parallel",
                    "--pipeline-parallel", "--expert-parallel", "--prefill-replicas", "--speculative",
                    "--transfer-rate", "--price", "--precision", "--weight-precision", "--kv-precision"},
                   "a MODEL in the place of --system");
  if (!unused) return unused.error();
  const auto text = read_file(arguments.system, kMostStepsBytes);
  if (!text) return as_named_file(text.error(), true);
  return ai::parse_measured_steps(*text, arguments.system);
}

Status check_request(const ServingArguments& arguments, const CommonOptions& common) {
  if (Status fine = check_serving(arguments, common); !fine) return fine;
  const std::pair<const char*, std::string> files[] = {{"--request-times", arguments.request_times},
                                                       {"--events", arguments.events},
                                                       {"--report", arguments.report},
                                                       {"-o", common.output}};
  for (const auto& [option, file] : files) {
    if (Status fits = check_output_file(option, file); !fits) return fits;
    const auto same = std::count_if(std::begin(files), std::end(files),
                                    [&, &file = file](const auto& other) { return other.second == file; });
    if (!file.empty() && same > 1) {
      return usage_error("bad-usage", "two results go to one place", option, "another file");
    }
    if (!file.empty() && (file == arguments.trace || file == arguments.device_file || file == arguments.system)) {
      return usage_error("bad-usage", "'" + printable(file) + "' is read, too", option, "another file");
    }
  }
  return {};
}

int run_serving(const CommandContext& context, const ServingArguments& arguments) {
  const CommonOptions& common = context.options;
  if (Status fine = check_request(arguments, common); !fine) return report_error(fine.error(), common);
  std::vector<std::string> notes;
  std::optional<ai::MeasuredSteps> steps;
  Result<ai::ServingRequestFor> request = ai::ServingRequestFor();
  std::optional<ai::CpuService> cpus;
  const auto are_servers = serves_on_cpus(arguments);
  if (!are_servers) return report_error(are_servers.error(), common);
  if (*are_servers) {
    auto service = take_cpu_service(arguments, *request, notes);
    if (!service) return report_error(service.error(), common);
    cpus = *std::move(service);
  } else if (arguments.system.empty()) {
    if (Status unused = check_unused(*arguments.verb, "a service on accelerators", {"--vcpus"}, "--on CPU with it");
        !unused) {
      return report_error(unused.error(), common);
    }
    request = serving_request_of(arguments);
  } else {
    auto read = measured_steps(arguments);
    if (!read) return report_error(read.error(), common);
    steps = *std::move(read);
    if (Status taken = take_service(arguments, *request); !taken) return report_error(taken.error(), common);
    ai::take_engine(*steps, *request);
    notes.push_back("steps are measured, by perfcast bench serve --calibrate; an interval is of what " +
                    std::to_string(steps->checked_steps) + " other steps differed by");
  }
  if (!request) return report_error(request.error(), common);
  const auto asked_loads = serving_loads_of(arguments, common.seed, notes);
  if (!asked_loads) return report_error(asked_loads.error(), common);
  auto loads = asked_loads->all();
  if (!loads) return report_error(loads.error(), common);
  request->loads = *std::move(loads);
  std::string times;
  const ai::ServingRequestFor asked = *request;
  ai::ServingEvents events(asked);
  const ai::TakeRun take = [&](const ai::ServingRow& row, const ai::ServingTrace& trace,
                               const ai::ServeRun& run) -> Status {
    if (!arguments.request_times.empty()) times += ai::request_times_csv(asked, row, trace, run, times.empty());
    if (!arguments.events.empty()) events.add(row, trace, run);
    return {};
  };
  auto result = steps  ? ai::forecast_measured(*steps, *std::move(request), take)
                : cpus ? ai::forecast_serving_on_cpus(*cpus, *std::move(request), take)
                       : ai::forecast_serving(*std::move(request), take);
  if (!result) return report_error(as_usage(with_option_names(result.error(), *arguments.verb)), common);
  const ai::ServingReport report = ai::report_serving(*std::move(result), std::move(notes));
  const std::pair<std::string, std::function<std::string()>> files[] = {
      {arguments.request_times, [&] { return std::move(times); }},
      {arguments.events, [&] { return events.take(); }},
      {arguments.report, [&] { return ai::serving_page(report); }}};
  for (const auto& [file, text] : files) {
    if (file.empty()) continue;
    if (Status written = write_file_atomically(file, text()); !written) return report_error(written.error(), common);
  }
  if (arguments.csv && !common.quiet) {
    for (const std::string& note : report.notes) std::fprintf(stderr, "note: %s\n", printable(note).c_str());
  }
  return write_result(common.json     ? to_text(ai::serving_json(report))
                      : arguments.csv ? ai::serving_csv(report)
                                      : ai::serving_text(report),
                      common);
}

void add_service_options(CLI::App& verb, ServingArguments& arguments) {
  add_basic(verb, "--replicas", arguments.replicas, "N", "The number of engines that share the load.")
      ->check(CLI::Range(int64_t{1}, int64_t{10000}))
      ->capture_default_str();
  add_basic(verb, "--tensor-parallel", arguments.precision.tensor_parallel, "N",
            "The number of devices that share every layer.")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}))
      ->capture_default_str();
  add_advanced(
      verb, "--data-parallel", arguments.data_parallel, "N",
      "The number of engines in a replica. If the model has experts, these engines share them, and run each step "
      "together.")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}))
      ->capture_default_str();
  add_advanced(verb, "--expert-parallel", arguments.expert_parallel,
               "Each device holds whole experts, instead of a part of every expert.");
  add_advanced(verb, "--pipeline-parallel", arguments.pipeline_parallel, "N",
               "The number of stages in a replica. Each stage has a part of the layers.")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}))
      ->capture_default_str();
  add_advanced(verb, "--prefill-replicas", arguments.prefill_replicas, "N",
               "The number of further replicas that compute only prompts, and pass the requests on to the others.")
      ->check(CLI::Range(int64_t{1}, int64_t{10000}));
  add_advanced(
      verb, "--transfer-rate", arguments.transfer_gb_per_s, "GB/S",
      "How fast each of their devices sends keys and values. The default is the speed of the link to its host.")
      ->check(CLI::Range(1e-3, 1e6));
  add_advanced(
      verb, "--speculative", arguments.speculative, "K,A[,T]",
      "Speculative decoding: guesses K tokens of each sequence in a step. A is the share of guesses that are right. T "
      "is the time of a guess as a share of a step's time; the default is the time of one layer.")
      ->take_all()
      ->allow_extra_args(false);
  add_serving_engine_options(verb, arguments);
  add_basic(verb, "--objective", arguments.objectives, "LIMITS",
            "Prints which share of requests keeps these limits, and the goodput: ttft=2s,tpot=200ms,share=99%.")
      ->take_all()
      ->allow_extra_args(false);
  add_basic(verb, "--price", arguments.prices, "DEVICE=USD",
            "US dollars per hour of one device, such as H100=3.5, or one number for all.");
}

}  // namespace

void add_llm_serving_command(CLI::App& llm, CommandContext& context) {
  auto arguments = std::make_shared<ServingArguments>();
  CLI::App* verb = add_verb(
      llm, {"serve-sim",
            "Simulates a service under a load: whether it keeps up, its times, goodput and cost.",
            "",
            {"perfcast llm serve-sim llama3-8b --on H100,L40S --rate 5 --objective ttft=1s,tpot=50ms",
             "perfcast llm serve-sim llama3-70b --on H100 --tensor-parallel 4 --replicas 2 --trace requests.csv",
             "perfcast llm serve-sim llama3-8b --on A100-80GB --concurrency 1,8,64 --price 1.8"},
            "serving"});
  arguments->verb = verb;
  verb->footer(
      "Intervals are 90% intervals of the engine's forecast. They don't cover differences between your load and this "
      "one.");
  add_basic(*verb, "model", arguments->model, "MODEL",
            "A built-in name, a config.json, a folder with one, or a GGUF file.");
  add_basic(*verb, "--on", arguments->on, "DEVICE,...",
            "The devices of the service, by name, such as A100-80GB,H100; or models of CPUs, such as \"EPYC 9B45\".");
  add_basic(*verb, "--vcpus", arguments->vcpus, "N",
            "With CPUs: the virtual CPUs of a server. The default is the largest that was measured.")
      ->check(CLI::Range(1.0, 1e5));
  add_advanced(*verb, "--device-file", arguments->device_file, "FILE",
               "Reads the facts of further devices from this file (JSON).");
  add_advanced(*verb, "--system", arguments->system, "FILE",
               "Uses steps measured by perfcast bench serve --calibrate FILE, instead of MODEL and --on.");
  add_serving_load_options(*verb, *arguments);
  add_advanced(*verb, "--most-in-flight", arguments->in_flight, "N",
               "The most requests that clients have open at once. Further ones wait at the client until one has ended.")
      ->check(CLI::Range(int64_t{1}, kMostInFlight));
  add_service_options(*verb, *arguments);
  add_engine_option(*verb, arguments->engine);
  add_host_option(*verb, arguments->engine);
  add_llm_precision_options(*verb, arguments->precision);
  add_advanced(*verb, "--request-times", arguments->request_times, "FILE",
               "Writes the times of each request to this file (CSV).");
  add_advanced(*verb, "--events", arguments->events, "FILE",
               "Writes a timeline of all requests to this file, for ui.perfetto.dev (JSON).");
  add_basic(*verb, "--report", arguments->report, "FILE",
            "Writes a page (HTML) with times against load, and with the number of requests that run and wait.");
  add_advanced(*verb, "--csv", arguments->csv, "Prints one line of CSV for each device and load.");
  add_common_options(*verb, context, kQuietOption | kSeedOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_serving(context, *arguments); }; });
}

}  // namespace perfcast::cli
