// perfcast llm forecast: what a model takes on devices.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "ai/llm/model_catalogue.h"
#include "ai/llm_forecast/forecast_figure.h"
#include "ai/llm_forecast/forecast_report.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/unknown.h"
#include "cli/ai/llm_calibrate.h"
#include "cli/ai/llm_command.h"
#include "cli/ai/llm_cpu_forecast.h"
#include "cli/ai/llm_devices.h"
#include "cli/ai/llm_engine.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"
#include "cli/shared/table_options.h"

namespace perfcast::cli {
namespace {

struct ForecastArguments {
  std::string model, device_file, calibrate, svg;
  std::vector<std::string> on, cpus, batches, sequences, tensor_parallels, prices, powers;
  int64_t output_tokens = 128;
  std::optional<double> link_bytes_per_s, vcpus;
  ai::WorkloadFormats precision;
  EngineArguments engine;
  bool sweep = false, csv = false, list = false, eager_attention = false, graph_launch = false;
  const CLI::App* verb = nullptr;
};

Result<ai::SweepGrid> grid_of(const ai::LlmConfig& config, const ForecastArguments& arguments) {
  ai::SweepGrid grid;
  ai::LlmWorkload formats;
  if (Status status = ai::take_formats(config, arguments.precision, formats); !status) return status.error();
  grid.request.weights = formats.weights;
  grid.request.activations = formats.activations;
  grid.request.kv = formats.kv;
  grid.request.weight_bits_per_value = formats.weight_bits_per_value;
  grid.request.fused_attention = !arguments.eager_attention;
  grid.request.output_tokens = arguments.output_tokens;
  const struct {
    const std::vector<std::string>& given;
    const char* option;
    std::vector<int64_t>& taken;
  } axes[] = {{arguments.batches, "--batch", grid.batches},
              {arguments.sequences, "--sequence", grid.sequences},
              {arguments.tensor_parallels, "--tensor-parallel", grid.tensor_parallels}};
  for (const auto& axis : axes) {
    const auto counts = counts_of(axis.given, axis.option);
    if (!counts) return counts.error();
    if (!counts->empty()) {
      axis.taken = *counts;
      continue;
    }
    if (axis.option == axes[1].option) {
      axis.taken = {ai::usual_prompt(config, arguments.output_tokens)};
    } else if (arguments.sweep && axis.option == axes[0].option) {
      axis.taken = {1, 2, 4, 8, 16, 32, 64, 128, 256};
    } else if (arguments.sweep) {
      axis.taken = {1, 2, 4, 8};
    }
  }
  return grid;
}

Result<std::vector<ai::ForecastDevice>> devices_of(const ai::DeviceProvider& provider,
                                                   const ForecastArguments& arguments) {
  auto devices = chosen_devices(provider, arguments.on);
  if (!devices) return devices;
  for (ai::ForecastDevice& device : *devices) {
    device.terms.step.launch = arguments.graph_launch ? ai::LaunchMode::kGraph : ai::LaunchMode::kStream;
    if (arguments.link_bytes_per_s) device.terms.step.link_bytes_per_s = *arguments.link_bytes_per_s;
  }
  if (Status status = take_values(arguments.powers, "--power-w", provider, *devices, &ai::DeviceTerms::power_w);
      !status) {
    return status.error();
  }
  if (Status status = take_values(arguments.prices, "--price", provider, *devices, &ai::DeviceTerms::price_per_hour);
      !status) {
    return status.error();
  }
  return devices;
}

// What was timed of a device is said of its kernels: they stand for its work.
void take_timed(const std::vector<std::string>& timed, std::vector<ai::ForecastDevice>& devices) {
  for (ai::ForecastDevice& device : devices) {
    if (std::ranges::find(timed, device.model->device().name) != timed.end()) device.terms.engine.kernels = true;
  }
}

// Engines fuse attention and record graphs; both options are of kernels alone.
Result<ai::EngineTerms> engine_terms(const ForecastArguments& arguments) {
  const bool named = arguments.verb->count("--engine") > 0;
  const bool of_kernels = arguments.eager_attention || arguments.graph_launch;
  if (!of_kernels) return engine_of(arguments.engine);
  const char* option = arguments.eager_attention ? "--eager-attention" : "--graph-launch";
  if (named && arguments.engine.engine != kNoEngine) {
    return usage_error("bad-usage", std::string(option) + " is of kernels without an engine", option, "--engine none");
  }
  return ai::EngineTerms();
}

Result<ai::LlmForecastReport> report_of(ai::DeviceProvider& provider, const ForecastArguments& arguments, bool quiet) {
  if (arguments.model.empty()) {
    return usage_error(
        "bad-usage", "no model is named", "perfcast llm forecast",
        "a built-in name (perfcast llm analyze --list), a config.json, a folder with one, or a GGUF file");
  }
  if (arguments.link_bytes_per_s && !(*arguments.link_bytes_per_s > 0)) {
    return usage_error("bad-usage", "a link that carries nothing", "--link-bytes-per-s", "bytes per second, above 0");
  }
  const auto config = ai::load_model(arguments.model);
  if (!config) return as_named_file(config.error(), true);
  const auto grid = grid_of(*config, arguments);
  if (!grid) return grid.error();
  const auto timed = calibrate_devices(provider, arguments.calibrate, quiet);
  if (!timed) return timed.error();
  auto devices = devices_of(provider, arguments);
  if (!devices) return devices.error();
  const auto engine = engine_terms(arguments);
  if (!engine) return engine.error();
  if (engine->profile) {
    for (ai::ForecastDevice& device : *devices) device.terms.engine = *engine;
    take_timed(*timed, *devices);
    if (Status status = take_hosts(arguments.engine.hosts, provider, *devices); !status) return status.error();
  } else if (!arguments.engine.hosts.empty()) {
    return usage_error("bad-usage", "a host, and no engine that runs on it", "--host",
                       "an engine with it: --engine vllm");
  }
  auto report = ai::report_forecast(*config, *devices, *grid);
  if (!report) return as_usage(report.error());
  return report;
}

// The result, in the format that was asked for.
Result<std::string> text_of(const ai::LlmForecastReport& report, const ForecastArguments& arguments, bool json) {
  if (json) return to_text(ai::forecast_json(report));
  return arguments.csv ? forecast_csv(report) : forecast_text(report);
}

// One sequence on CPUs. `option` named them: --cpu, whose engine is llama.cpp unless another is named, or --on.
Result<std::string> on_cpus(const ForecastArguments& arguments, const char* option, bool json) {
  const bool by_cpu = std::string_view(option) == "--cpu";
  if (by_cpu && !arguments.on.empty()) {
    return usage_error("bad-usage", "CPUs and devices in one forecast", "--cpu", "--cpu or --on");
  }
  const std::string engine = by_cpu && arguments.verb->count("--engine") == 0 ? kCpuEngine : arguments.engine.engine;
  const bool under_llama = plain_name(engine) == plain_name(kCpuEngine);
  const std::string way = std::string(by_cpu ? "--cpu, which forecasts" : "a CPU, which is forecast with") +
                          " one sequence at a time on whole machines";
  const char* instead = "--on DEVICE with it; perfcast place has watts of CPUs, too";
  Status used =
      check_unused(*arguments.verb, way,
                   {"--host", "--sweep", "--kv-precision", "--eager-attention", "--graph-launch", "--link-bytes-per-s",
                    "--power-w", "--calibrate", "--svg", "--device-file", "--list-devices"},
                   instead);
  if (used && under_llama) used = check_unused(*arguments.verb, way, {"--tensor-parallel"}, instead);
  if (!used) return used.error();
  const auto batches = counts_of(arguments.batches, "--batch");
  if (!batches) return batches.error();
  if (std::ranges::any_of(*batches, [](int64_t batch) { return batch != 1; })) {
    return usage_error("bad-usage",
                       by_cpu ? "--cpu forecasts one sequence at a time" : "CPUs are forecast with one sequence",
                       "--batch", by_cpu ? "1, or --on DEVICE for batches" : "1, or a GPU for batches");
  }
  if (arguments.model.empty()) return usage_error("bad-usage", "no model is named", "MODEL", "as in llama3-8b");
  const auto config = ai::load_model(arguments.model);
  if (!config) return as_named_file(config.error(), true);
  ai::CpuForecastRequest request;
  ai::LlmWorkload formats;
  if (Status status = ai::take_formats(*config, arguments.precision, formats); !status) return status.error();
  if (!arguments.precision.weights.empty() || !arguments.precision.precision.empty()) request.weights = formats.weights;
  // A GGUF file is what llama.cpp runs; of the weights beside a config.json one would be made.
  if (config->stored_weight_name.empty()) request.bits_per_value = formats.weight_bits_per_value;
  request.cpus = list_of(by_cpu ? arguments.cpus : arguments.on);
  if (Status status = take_cpu_prices(arguments.prices, request); !status) return status.error();
  request.vcpus = arguments.vcpus.value_or(kUnknown);
  request.output_tokens = arguments.output_tokens;
  const auto sequences = counts_of(arguments.sequences, "--sequence");
  if (!sequences) return sequences.error();
  const int64_t usual = by_cpu ? 512 : ai::usual_prompt(*config, arguments.output_tokens);
  request.sequences = sequences->empty() ? std::vector<int64_t>{usual} : *sequences;
  const auto processes = counts_of(arguments.tensor_parallels, "--tensor-parallel");
  if (!processes) return processes.error();
  if (processes->size() > 1) {
    return usage_error("bad-usage", "several degrees at once on CPUs", "--tensor-parallel", "one of them");
  }
  if (!processes->empty()) request.processes = processes->front();
  const auto format = json            ? CpuForecastFormat::kJson
                      : arguments.csv ? CpuForecastFormat::kCsv
                                      : CpuForecastFormat::kText;
  return cpu_forecast(*config, request, engine, option, format);
}

int run_forecast(const CommandContext& context, const ForecastArguments& arguments) {
  const CommonOptions& common = context.options;
  if (arguments.csv && common.json) {
    return report_error(usage_error("bad-usage", "two formats at once", "--csv", "--csv or --json"), common);
  }
  const auto write = [&](const Result<std::string>& text) {
    return text ? write_result(*text, common) : report_error(text.error(), common);
  };
  if (!arguments.cpus.empty()) return write(on_cpus(arguments, "--cpu", common.json));
  for (const auto& [option, path] :
       {std::pair{"--device-file", arguments.device_file}, {"--calibrate", arguments.calibrate}}) {
    if (const Status there = check_named_file(option, path); !there) return report_error(there.error(), common);
  }
  const auto provider = open_devices(arguments.device_file);
  if (!provider) return report_error(provider.error(), common);
  const Status sized = check_unused(*arguments.verb, "a forecast without --cpu", {"--vcpus"}, "--cpu NAME with it");
  if (arguments.list) {
    if (!sized) return report_error(sized.error(), common);
    const auto text = common.json ? [&]() -> Result<std::string> {
      const auto json = ai::device_list_json(**provider);
      if (!json) return json.error();
      return to_text(*json);
    }()
        : ai::device_list_text(**provider);
    return write(text);
  }
  const auto report = report_of(**provider, arguments, common.quiet);
  if (!report && report.error().code == "unknown-device") {
    const auto are_all = are_cpus(list_of(arguments.on), **provider);
    if (!are_all) return report_error(are_all.error(), common);
    // With --vcpus CPUs are meant.
    const std::vector<std::string> names = list_of(arguments.on);
    const bool means_cpus = arguments.vcpus && std::ranges::none_of(names, [&](const std::string& name) {
                              return (*provider)->find(name).ok();
                            });
    if (*are_all || means_cpus) return write(on_cpus(arguments, "--on", common.json));
    return report_error(report.error(), common);
  }
  if (!sized) return report_error(sized.error(), common);
  if (!report) return report_error(report.error(), common);
  if (!arguments.svg.empty()) {
    if (arguments.svg == common.output) {
      return report_error(
          usage_error("bad-usage", "the picture and the table go to one place", "--svg", "another file"), common);
    }
    if (report->grid.sequences.size() > 1 && !common.quiet) {
      std::fprintf(stderr, "note: the picture has the shortest prompt alone\n");
    }
    const auto picture = ai::pareto_svg(*report);
    if (!picture) return report_error(picture.error(), common);
    if (Status status = write_file_atomically(arguments.svg, *picture); !status) {
      return report_error(status.error(), common);
    }
  }
  if (arguments.csv && !common.quiet) {  // a table of numbers has no room for notes
    for (const std::string& note : report->notes) std::fprintf(stderr, "note: %s\n", printable(note).c_str());
  }
  return write(text_of(*report, arguments, common.json));
}

}  // namespace

void add_llm_forecast_command(CLI::App& llm, CommandContext& context) {
  auto arguments = std::make_shared<ForecastArguments>();
  CLI::App* verb = add_verb(llm, {"forecast",
                                  "Forecasts time, tokens/s, memory, energy and cost of a model on devices.",
                                  "",
                                  {"perfcast llm forecast llama3-8b --on A100-80GB,H100 --batch 1,8,64",
                                   "perfcast llm forecast llama3-8b --on A10G --host g5.xlarge",
                                   "perfcast llm forecast model.gguf --on L4 --sweep --price L4=0.8"},
                                  "llm"});
  arguments->verb = verb;
  verb->footer("Intervals contain the true value in 90% of cases. The sequences of a batch start and end together.");
  add_basic(*verb, "model", arguments->model, "MODEL",
            "A built-in name, a config.json, a folder with one, or a GGUF file.");
  add_basic(*verb, "--on", arguments->on, "DEVICE,...",
            "The devices to forecast, by name, such as A100-80GB,H100; or CPU models.");
  add_basic(
      *verb, "--cpu", arguments->cpus, "CPU,...",
      "Forecasts these CPU models instead, one sequence at a time, under llama.cpp or --engine vllm: \"EPYC 7763\".");
  add_advanced(*verb, "--vcpus", arguments->vcpus, "N",
               "With CPUs: the vCPUs of the machine. Default: those of the largest machine that was measured.");
  add_basic(*verb, "--list-devices", arguments->list, "Lists the known devices.");
  add_advanced(*verb, "--device-file", arguments->device_file, "FILE",
               "Adds the facts of more devices from this file (JSON).");
  add_basic(*verb, "--batch", arguments->batches, "N,...",
            "How many sequences run at once, such as 1,8,64. Default: 1.");
  add_basic(*verb, "--sequence", arguments->sequences, "N,...",
            "How many tokens the prompt has. Default: 2048, or as many as the model takes.");
  add_basic(*verb, "--output-tokens", arguments->output_tokens, "N", "How many new tokens each sequence gets.")
      ->capture_default_str();
  add_basic(*verb, "--tensor-parallel", arguments->tensor_parallels, "N,...",
            "How many devices share every layer. Default: 1.");
  add_engine_option(*verb, arguments->engine);
  add_host_option(*verb, arguments->engine);
  add_advanced(*verb, "--sweep", arguments->sweep, "Tries batches 1 to 256 and 1 to 8 devices, unless you give them.");
  add_llm_precision_options(*verb, arguments->precision);
  add_advanced(*verb, "--eager-attention", arguments->eager_attention,
               "Writes attention scores to memory, as an engine without a fused kernel does.");
  add_advanced(*verb, "--graph-launch", arguments->graph_launch,
               "Launches all kernels of a step as one recorded graph.");
  add_advanced(*verb, "--link-bytes-per-s", arguments->link_bytes_per_s, "BYTES",
               "Bandwidth between two devices in one direction, in bytes per second.");
  add_basic(*verb, "--price", arguments->prices, "DEVICE=USD",
            "US dollars per hour of one device, such as H100=3.5, or of a machine with a CPU; or one number for all.");
  add_advanced(
      *verb, "--power-w", arguments->powers, "DEVICE=W",
      "The watts of one device: DEVICE=300, or 300 for all. Default: modelled from the power in its data sheet.");
  add_advanced(*verb, "--calibrate", arguments->calibrate, "PATH",
               "Calibrates the forecast by products timed on a device: CSV with the columns "
               "device,kind,batch,m,k,n,precision,latency_s; or by a folder of tables of measured kernels "
               "(perfcast help llm).");
  add_advanced(*verb, "--svg", arguments->svg, "FILE", "Draws throughput against latency into this file.");
  add_advanced(*verb, "--csv", arguments->csv, "Prints one line of CSV per configuration.");
  add_common_options(*verb, context, kQuietOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_forecast(context, *arguments); }; });
}

}  // namespace perfcast::cli
