#include <fmt/format.h>

#include <chrono>

#include "base/process/program_inspector.h"
#include "measure/diagnose/observe/observation.h"
#include "profile/collect/native/cpu_sampler.h"

namespace perfcast::measure {
namespace {

constexpr double kLooksApart_s = 0.02;
constexpr double kFewSamples = 100;

uint64_t monotonic_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();  // CLOCK_MONOTONIC
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

Result<Observation> observe(const ObserveRequest& request) {
  const auto program = inspect_program(request.command);
  if (!program) return program.error();
  Observation observation;
  CpuSampler sampler(request.samples_per_s);
  ThreadStates states;
  MappingWatch mappings;
  ProcessRequest process;
  process.executable = program->path;
  process.arguments = request.command;
  process.environment = request.environment;
  process.input = request.input;
  process.output = request.pass_output ? StreamTo::kPass : StreamTo::kDiscard;
  process.limit_s = request.limit_s;
  process.watch = true;
  process.looks_apart_s = kLooksApart_s;
  Status sampled;
  // Counters that nobody has cost each process that is started all the same.
  const Status offered = request.hardware != nullptr ? request.hardware->available() : Status();
  PerfEventCollector* const hardware = offered ? request.hardware : nullptr;
  uint64_t start_ns = 0;
  process.before_exec = [&](pid_t child) {
    sampled = sampler.attach(child);
    if (hardware != nullptr) hardware->attach(child);
    start_ns = monotonic_ns();
  };
  process.on_look = [&](double now_s, const std::vector<pid_t>& processes) {
    sampler.drain();
    states.look(now_s, processes);
    if (request.watch_mappings) mappings.look(now_s, processes);
  };
  auto run = run_process(process);
  if (!run) return run.error();
  const CpuSamples samples = sampler.finish();
  observation.run = std::move(*run);
  if (hardware != nullptr) observation.hardware = hardware->harvest().counters;
  if (!offered) observation.no_hardware = offered.error().message;
  for (const RunInterval& interval : observation.run.course) observation.ready_s += interval.ready_s;
  observation.threads = states.all();
  observation.first_thread = states.first_thread();
  observation.looks = states.looks();
  observation.no_system_calls = states.missing();
  if (request.watch_mappings) {
    // The kernel also tells of those that came and went between two looks.
    observation.mapped = mappings.files();
    for (const CodeMappings& state : samples.mappings) {
      for (const CodeMapping& mapping : state) add_mapping(observation.mapped, mapping);
    }
  }
  for (const CodeMappings& state : samples.mappings) {
    for (const CodeMapping& mapping : state) {
      if (mapping.path.starts_with('/')) observation.libraries.insert(mapping.path.substr(mapping.path.rfind('/') + 1));
    }
  }
  std::vector<int32_t> function_of_sample;
  if (!sampled) {
    observation.no_samples = sampled.error().message;
  } else {
    CodeMap code;
    function_of_sample = summarise_samples(samples, code, observation);
    observation.lost_ratio = samples.lost_ratio;
    if (samples.user_only) {
      // Shares of the user code's samples become shares of the CPU time.
      const double user = observation.run.cpu_s() > 0 ? observation.run.user_s / observation.run.cpu_s() : 1;
      for (HotFunction& function : observation.functions) {
        function.cpu_share *= user;
        if (function.loop) function.loop->cpu_share *= user;
      }
      for (double& share : observation.role_share) share *= user;
      observation.kernel_share.reset();
      observation.notes.emplace_back(
          "only user code was sampled: what the kernel does is seen by the system time alone (as root, or with "
          "kernel.perf_event_paranoid of 1, it is sampled, too)");
    }
    observation.has_starts = true;
    observation.processes_started_count = static_cast<double>(samples.processes_started_count);
    observation.programs_started_count = static_cast<double>(samples.programs_started_count);
    observation.threads_started_count = static_cast<double>(samples.threads_started_count);
    if (observation.samples_count < kFewSamples) {
      observation.notes.push_back(fmt::format("only {:.0f} samples of where it runs: shares of functions are rough",
                                              observation.samples_count));
    }
    if (observation.lost_ratio > 0.05)
      observation.notes.push_back(fmt::format("{:.0f}% of the samples were lost", 100 * observation.lost_ratio));
  }
  const std::vector<ThreadStateSpan> history = states.history();
  TimelineInputs course{samples, function_of_sample, {}, history, observation.run.wall_s, 0, start_ns};
  course.function_names.reserve(observation.functions.size());
  for (const HotFunction& function : observation.functions) course.function_names.push_back(function.name());
  const double sampled_s = samples.user_only ? observation.run.user_s : observation.run.cpu_s();
  if (!samples.samples.empty()) course.sample_s = sampled_s / static_cast<double>(samples.samples.size());
  observation.timeline = make_timeline(course);
  return observation;
}

}  // namespace perfcast::measure
