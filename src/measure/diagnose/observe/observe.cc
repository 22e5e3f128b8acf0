#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "base/process/program_inspector.h"
#include "measure/diagnose/observe/observation.h"
#include "measure/diagnose/observe/wait_places.h"
#include "profile/collect/native/cpu_sampler.h"

namespace perfcast::measure {
namespace {

constexpr double kLooksApart_s = 0.02, kScriptLooksApart_s = 0.01;  // lines of a script are known by looks alone
constexpr double kFewSamples = 100;

uint64_t monotonic_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();  // CLOCK_MONOTONIC
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// A script that only finds the program and starts it: pyenv's, asdf's.
void add_shim(const ProgramFacts& program, const std::map<pid_t, std::vector<std::string>>& programs,
              Observation& observation) {
  if (!program.is_script) return;
  for (const auto& [process, paths] : programs) {
    // The same process became another program.
    if (paths.size() < 2 || paths.front() == paths.back()) continue;
    observation.shim = program.path;
    observation.started_by_shim = paths.back();
    observation.notes.push_back(fmt::format(
        "{} is a script that starts {}: the start is its own; run that program directly", program.path, paths.back()));
    return;
  }
}

// Whether other threads than the one that was alone longest share its kind of work: of the uneven ones, a part that is
// smaller, but of the same size; else other programs held one of them up, or they are there for something else.
bool others_work_too(const std::vector<ThreadsLook>& spans, const CpuSamples& samples, Lone kind) {
  constexpr double kLeastOfAll = 0.2, kLeast = 0.1, kMost = 0.87;
  std::map<pid_t, double> alone_s, samples_of;
  for (const ThreadsLook& span : spans) alone_s[span.runner] += span.end_s - span.start_s;
  for (const CpuSample& sample : samples.samples) samples_of[sample.thread] += 1;
  const auto longest = std::max_element(alone_s.begin(), alone_s.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  if (longest == alone_s.end()) return false;
  if (kind == Lone::kSingle) return true;
  double all = 0, most = 0;
  for (const auto& [thread, count] : samples_of) {
    if (thread == longest->first) continue;
    all += count;
    most = std::max(most, count);
  }
  const double own = samples_of[longest->first];
  return kind == Lone::kSerial ? all >= kLeastOfAll * own : most >= kLeast * own && most <= kMost * own;
}

// How long, what it costs, and what ran most then.
LoneTime lone_time(const std::vector<ThreadsLook>& spans, double cpus_count, uint64_t start_ns,
                   const CpuSamples& samples, const std::vector<int32_t>& function_of_sample, Lone kind,
                   const Observation& observation) {
  LoneTime lone;
  double lost_s = 0;
  for (const ThreadsLook& span : spans) {
    const double length_s = span.end_s - span.start_s;
    lone.s += length_s;
    lost_s += length_s * (1 - span.running / cpus_count);
  }
  if (!others_work_too(spans, samples, kind)) return {};
  if (observation.run.wall_s > 0) lone.lost_ratio = std::min(1.0, lost_s / observation.run.wall_s);
  std::map<int32_t, size_t> seen;
  size_t samples_count = 0;
  size_t at = 0;
  for (size_t i = 0; i < function_of_sample.size() && at < spans.size(); ++i) {
    const uint64_t time_ns = samples.samples[i].time_ns;
    const double time_s = time_ns > start_ns ? 1e-9 * static_cast<double>(time_ns - start_ns) : 0;
    while (at < spans.size() && spans[at].end_s < time_s) ++at;
    if (at == spans.size() || time_s < spans[at].start_s) continue;
    ++samples_count;
    if (function_of_sample[i] != kNoFunction) ++seen[function_of_sample[i]];
  }
  // Ready, but without a CPU, it waits for other programs, and the threads beside it wait with it: what counts is where
  // it ran as much of the time as the program did on the whole.
  const double ran_s = static_cast<double>(samples_count) * samples.period_s;
  const double wanted_s = observation.run.cpu_s() + observation.ready_s;
  const double usual = wanted_s > 0 ? observation.run.cpu_s() / wanted_s : 1;
  const double ran_ratio = lone.s > 0 && usual > 0 ? std::min(1.0, ran_s / lone.s / usual) : 0;
  lone.s *= ran_ratio;
  lone.lost_ratio *= ran_ratio;
  const auto most =
      std::max_element(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != seen.end()) lone.where = observation.functions[static_cast<size_t>(most->first)].own_words();
  return lone;
}

}  // namespace

Result<Observation> observe(const ObserveRequest& request) {
  const auto program = inspect_program(request.command);
  if (!program) return program.error();
  Observation observation;
  CpuSampler sampler(request.samples_per_s);
  ThreadStates states;
  MappingWatch mappings;
  ScriptLines script;
  ProcessRequest process;
  process.executable = program->path;
  process.arguments = request.command;
  process.environment = request.environment;
  process.input = request.input;
  process.around = request.around;
  process.output = request.pass_output ? StreamTo::kPass : StreamTo::kDiscard;
  process.limit_s = request.limit_s;
  process.watch = true;
  const bool is_script = std::any_of(request.command.begin(), request.command.end(), [](const std::string& word) {
    return word.ends_with(".py") || word.find("python") != std::string::npos;
  });
  process.looks_apart_s = is_script ? kScriptLooksApart_s : kLooksApart_s;
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
    script.look(states.now());
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
  observation.script = script.lines();
  hold_to_cpu_time(observation.script, observation.run.cpu_s());
  if (!script.missing().empty()) observation.notes.push_back(script.missing());
  add_shim(*program, script.programs(), observation);
  observation.idle = states.idle();
  CodeMap code;
  observation.waits = wait_places(states, code, observation.threads, observation.first_thread);
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
  for (const auto& [kind, lone] : {std::pair{Lone::kSerial, &observation.serial},
                                   {Lone::kUneven, &observation.uneven},
                                   {Lone::kSingle, &observation.single}}) {
    *lone = lone_time(lone_spans(states.course(), request.cpus_count, kind), request.cpus_count, start_ns, samples,
                      function_of_sample, kind, observation);
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
