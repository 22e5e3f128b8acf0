// Scores of the forecasts of vLLM's single streams, beside their baselines and the noise floor:
// `perfcast_engines_reproduction FOLDER [--json] [--write FILE]`. FOLDER holds vllm_serving/ and sparecores/.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "ai/cpu_tokens/token_rates.h"
#include "ai/engine/vllm_points.h"
#include "ai/latency/model/device_catalogue.h"
#include "ai/latency/model/half_precision_file.h"
#include "ai/llm_forecast/learned_devices.h"
#include "base/file.h"
#include "studies/engines/cpu_engine_evaluation.h"
#include "studies/engines/cpu_engine_rows.h"
#include "studies/engines/engine_evaluation.h"
#include "studies/output.h"

namespace perfcast::ai::engines_study {
namespace {

struct Arguments {
  std::string folder, bundle;
  int threads = 2;
  bool json = false;
};

// Devices as they are shipped, and what was learned of them before engines were.
Result<LearnedBundles> shipped_bundles() {
  const std::string path = PERFCAST_SOURCE_DIR "/data/bundles/gpu-latency.json";
  const auto text = read_file(path);
  if (!text) return text.error();
  auto gpu = parse_gpu_bundle(*text, path);
  if (!gpu) return gpu.error();
  auto half = read_half_precision(PERFCAST_SOURCE_DIR "/data/bundles/half-precision.json");
  if (!half) return half.error();
  return LearnedBundles{std::move(*gpu), std::move(*half)};
}

Status reproduce(const Arguments& arguments) {
  const auto points = read_vllm_points(arguments.folder + "/vllm_serving");
  if (!points) return points.error();
  const auto hosts = HostLevels::read(arguments.folder + "/sparecores");
  if (!hosts) return hosts.error();
  const auto devices = read_device_catalogue(PERFCAST_SOURCE_DIR "/data/devices/devices.json");
  if (!devices) return devices.error();
  auto bundles = shipped_bundles();
  if (!bundles) return bundles.error();
  const EngineRows rows = engine_rows(single_streams(*points), *devices, *hosts);
  EngineProfile start = vllm_rules();
  start.version = "0.22";
  start.basis = EngineBasis::kMeasured;
  start.source = "Spare Cores inspector data (vllm), single streams on GPUs";
  start.spread.unmeasured_log_sd = 0.2;  // of each thing that no run covers: nothing is known of it but that
  const auto evaluation = evaluate_engine(rows.rows, start, LearnedDevices(*devices, std::move(*bundles)));
  if (!evaluation) return evaluation.error();
  const auto servers = read_cpu_servers(arguments.folder + "/sparecores");
  if (!servers) return servers.error();
  const CpuEngineRows cpu_rows = cpu_engine_rows(single_streams(*points, PointHardware::kCpu), *servers);
  auto on_cpus = evaluate_cpu_engine(cpu_rows.rows, *servers, arguments.threads);
  if (!on_cpus) return on_cpus.error();
  on_cpus->profile.name = start.name;
  on_cpus->profile.version = start.version;
  on_cpus->profile.source = "Spare Cores inspector data (vllm), single streams on CPUs";
  StudyOutput output("engines", arguments.json);
  output.note(fmt::format("{} single streams, {} combinations of device, model, prompt and degree of parallelism",
                          rows.rows.size(), rows.combinations));
  for (const std::string& note : points->notes) output.note(note);
  for (const VllmPoints::Left& left : points->left_out) {
    output.note(fmt::format("left out: {} rows, {} (first: {})", left.count, left.reason, left.example));
  }
  for (const std::string& note : rows.notes) output.note(note);
  output.note(fmt::format("{} single streams on CPUs of {} CPU models; {} of them while the engine was starting up",
                          cpu_rows.rows.size(), on_cpus->profile.cpus.size(),
                          static_cast<int64_t>(cpu_rows.rows.size()) - on_cpus->profile.rows));
  for (const std::string& note : cpu_rows.notes) output.note(note);
  output.add("scores", engine_scores_table(evaluation->scores));
  output.add("groups", engine_scores_table(evaluation->groups));
  output.add("constants", engine_constants_table(evaluation->profile));
  output.add("cpu_scores", engine_scores_table(on_cpus->scores));
  output.add("cpu_groups", engine_scores_table(on_cpus->groups));
  output.add("cpu_constants", cpu_engine_constants_table(on_cpus->profile));
  output.finish();
  if (arguments.bundle.empty()) return {};
  EngineBundle bundle = make_engine_bundle(*evaluation, *hosts);
  add_cpu_engine(*on_cpus, bundle);
  return write_file_atomically(arguments.bundle, engine_bundle_text(bundle));
}

}  // namespace
}  // namespace perfcast::ai::engines_study

int main(int argc, char** argv) try {
  perfcast::ai::engines_study::Arguments arguments;
  CLI::App app("Leaves devices, CPUs, generations and models out and forecasts vLLM's single streams on them");
  app.add_option("folder", arguments.folder, "holds vllm_serving/ and sparecores/")->required();
  app.add_option("--write", arguments.bundle, "fits on all rows and writes the bundle of engines here");
  app.add_option("--threads", arguments.threads, "of this program")->capture_default_str();
  app.add_flag("--json", arguments.json, "for programs");
  CLI11_PARSE(app, argc, argv);
  const perfcast::Status done = perfcast::ai::engines_study::reproduce(arguments);
  if (!done) fmt::print(stderr, "{}\n", perfcast::to_text(done.error()));
  return done ? 0 : 1;
} catch (const std::exception& error) {
  std::fputs(error.what(), stderr);
  return 1;
}
