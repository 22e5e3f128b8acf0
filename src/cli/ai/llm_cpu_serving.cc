#include "cli/ai/llm_cpu_serving.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "ai/engine/engine_step.h"
#include "ai/llm/model_catalogue.h"
#include "base/text.h"
#include "cli/ai/llm_cpu_forecast.h"
#include "cli/ai/llm_devices.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"
#include "cli/shared/table_options.h"

namespace perfcast::cli {
namespace {

// What the report says of the engine.
std::shared_ptr<const ai::EngineProfile> profile_for_report(const ai::CpuEngineProfile& engine) {
  auto profile = std::make_shared<ai::EngineProfile>();
  profile->name = engine.name;
  profile->version = engine.version;
  profile->basis = ai::EngineBasis::kMeasured;
  return profile;
}

void add_notes(const CpuForecastRun& run, int64_t processes, std::vector<std::string>& notes) {
  const ai::CpuEngineProfile& engine = *run.engine;
  notes.push_back(
      fmt::format("{}: steps are fitted to {} single streams on {} CPU models, and what several sequences "
                  "add to full throughput there",
                  run.forecast.engine, engine.rows, engine.cpus.size()));
  bool imputed = false, several_nodes = false, knows_model = true;
  for (const ai::CpuForecastRow& row : run.forecast.rows) {
    imputed = imputed || row.cpu.bandwidth_imputed;
    several_nodes = several_nodes || row.cpu.numa_nodes > static_cast<double>(processes);
    knows_model = knows_model && row.details->knows_model;
  }
  if (imputed) notes.emplace_back("bandwidth of some of these machines was not measured; it is that of CPUs like them");
  if (!knows_model) {
    notes.push_back(fmt::format("nobody measured {} under {} on CPUs; its times follow from other models",
                                run.forecast.work.name, engine.name));
  }
  if (!run.forecast.unmeasured.empty()) {
    notes.push_back(fmt::format("no run covers: {}; intervals are wider", run.forecast.unmeasured));
  }
  if (several_nodes) {
    notes.push_back(fmt::format("{} uses {} of a machine's NUMA nodes; --tensor-parallel N uses N of them", engine.name,
                                processes));
  }
}

}  // namespace

Result<bool> serves_on_cpus(const ServingArguments& arguments) {
  const std::vector<std::string> names = list_of(arguments.on);
  if (names.empty() || !arguments.system.empty()) return false;
  const auto provider = open_devices(arguments.device_file);
  if (!provider) return provider.error();
  return are_cpus(names, **provider);
}

Result<ai::CpuService> take_cpu_service(const ServingArguments& arguments, ai::ServingRequestFor& request,
                                        std::vector<std::string>& notes) {
  const Status unused =
      check_unused(*arguments.verb, "a service on CPUs",
                   {"--device-file", "--host", "--data-parallel", "--pipeline-parallel", "--expert-parallel",
                    "--prefill-replicas", "--speculative", "--transfer-rate", "--balance-steps", "--kv-precision"},
                   "--on DEVICE with it, an accelerator");
  if (!unused) return unused.error();
  if (Status taken = take_service(arguments, request); !taken) return taken.error();
  if (arguments.model.empty()) return usage_error("bad-usage", "no model is named", "MODEL", "as in llama3-8b");
  const auto config = ai::load_model(arguments.model);
  if (!config) return as_named_file(config.error(), true);
  request.config = *config;
  ai::LlmWorkload formats;
  if (Status taken = ai::take_formats(*config, arguments.precision, formats); !taken) return taken.error();
  if (plain_name(arguments.engine.engine) == plain_name(kCpuEngine)) {
    return usage_error("bad-usage", "nobody measured llama.cpp with several requests at once", "--engine", "vllm");
  }
  ai::CpuForecastRequest asked;
  if (!arguments.precision.weights.empty() || !arguments.precision.precision.empty()) asked.weights = formats.weights;
  if (config->stored_weight_name.empty()) asked.bits_per_value = formats.weight_bits_per_value;
  asked.cpus = list_of(arguments.on);
  if (Status taken = take_cpu_prices(arguments.prices, asked); !taken) return taken.error();
  asked.vcpus = arguments.vcpus.value_or(kUnknown);
  asked.processes = formats.tensor_parallel;
  asked.sequences = {1};
  asked.output_tokens = 1;
  auto run = run_cpu_forecast(*config, asked, arguments.engine.engine, "--on");
  if (!run) return run.error();
  request.profile = profile_for_report(*run->engine);
  request.formats.weights = request.formats.activations = request.formats.kv =
      asked.weights.value_or(ai::usual_cpu_precision(run->forecast.rows.front().cpu));
  request.formats.tensor_parallel = asked.processes;
  for (size_t i = 0; i < run->forecast.rows.size(); ++i) {
    const ai::CpuFacts& cpu = run->forecast.rows[i].cpu;
    ai::ServingDevice device;
    device.facts.kind = DeviceKind::kCpu;
    device.facts.name = fmt::format("{} ({:g} vCPUs)", cpu.name, cpu.vcpus);
    device.host.cpu = cpu.name;
    device.host.known = true;
    const auto price = asked.usd_per_hour.find(asked.cpus[i]);
    if (price != asked.usd_per_hour.end()) device.price_per_hour = price->second;
    request.devices.push_back(std::move(device));
  }
  add_notes(*run, asked.processes, notes);
  ai::CpuService service;
  service.sorts = ai::sampler_defaults(*config).truncates;
  for (const ai::CpuForecastRow& row : run->forecast.rows) {
    service.servers.push_back({row.details->machine, row.details->widths, row.fits_memory});
  }
  service.engine = *std::move(run->engine);
  service.work = std::move(run->forecast.work);
  return service;
}

}  // namespace perfcast::cli
