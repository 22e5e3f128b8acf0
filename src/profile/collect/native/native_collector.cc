#include "profile/collect/native/native_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/process/process.h"
#include "base/process/process_census.h"
#include "base/process/program_inspector.h"
#include "base/statistics.h"
#include "base/text.h"
#include "profile/collect/native/code_course.h"
#include "profile/collect/native/host_facts.h"
#include "profile/collect/native/profile_energy.h"
#include "profile/collect/native/work_done_once.h"

namespace perfcast {
namespace {

constexpr double kLongRun_s = 5;
// Under a time limit, what an instrumented run of the same program is expected to need is left for it.
constexpr double kInstrumentedSlowdown = 25;
constexpr double kCodeLooksApart_s = 0.02;
// What is read and hashed of a run's output must not be felt in its time.
constexpr double kDigestedBytes = 256 << 10, kDigestedWrites = 4096;

using Runs = std::vector<ProcessOutcome>;

template <typename Field>
std::vector<double> values_of(const Runs& runs, Field field) {
  std::vector<double> values;
  for (const ProcessOutcome& run : runs) values.push_back(field(run));
  return values;
}

double spread(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double middle = median(values);
  return middle > 0 ? (*high - *low) / middle : 0;
}

// Gives what a collector calls `event` its catalogue name.
class Recorder {
 public:
  Recorder(Collection& target, std::string collector) : target_(target), collector_(std::move(collector)) {}
  void put(const char* event, double value) {
    if (const std::string* metric = Catalogue::built_in().metric_of(collector_, event))
      target_.counters[*metric] = value;
  }
  void lack(const char* event, const std::string& reason) {
    if (const std::string* metric = Catalogue::built_in().metric_of(collector_, event))
      target_.missing[*metric] = reason;
  }

 private:
  Collection& target_;
  std::string collector_;
};

void record_times(const Runs& runs, Recorder& recorder) {
  const auto wall = values_of(runs, [](const auto& run) { return run.wall_s; });
  const auto cpu = values_of(runs, [](const auto& run) { return run.cpu_s(); });
  recorder.put("wall_s", median(wall));
  recorder.put("user_s", median(values_of(runs, [](const auto& run) { return run.user_s; })));
  recorder.put("system_s", median(values_of(runs, [](const auto& run) { return run.system_s; })));
  recorder.put("cpu_s", median(cpu));
  recorder.put("native_runs_count", static_cast<double>(runs.size()));
  if (runs.size() > 1) {
    recorder.put("wall_spread_ratio", spread(wall));
    recorder.put("cpu_spread_ratio", spread(cpu));
  } else {
    recorder.lack("wall_spread_ratio", "there was one run only");
    recorder.lack("cpu_spread_ratio", "there was one run only");
  }
}

void record_resources(const Runs& runs, Recorder& recorder) {
  const auto record = [&](const char* event, auto field) { recorder.put(event, median(values_of(runs, field))); };
  record("page_faults_minor_count", [](const auto& run) { return run.minor_faults; });
  record("page_faults_major_count", [](const auto& run) { return run.major_faults; });
  record("context_switches_voluntary_count", [](const auto& run) { return run.voluntary_switches; });
  record("context_switches_involuntary_count", [](const auto& run) { return run.involuntary_switches; });

  const bool has_io = std::all_of(runs.begin(), runs.end(), [](const auto& run) { return run.io.has_value(); });
  const auto record_io = [&](const char* event, double ProcessIo::*field) {
    if (has_io) {
      record(event, [field](const auto& run) { return (*run.io).*field; });
    } else {
      recorder.lack(event, "/proc/PID/io could not be read");
    }
  };
  record_io("io_read_bytes", &ProcessIo::read_bytes);
  record_io("io_written_bytes", &ProcessIo::written_bytes);
  record_io("io_read_calls_count", &ProcessIo::read_calls);
  record_io("io_write_calls_count", &ProcessIo::write_calls);
  record_io("io_storage_read_bytes", &ProcessIo::storage_read_bytes);
  record_io("io_storage_written_bytes", &ProcessIo::storage_written_bytes);

  const auto record_peak = [&](const char* event, auto field) {
    std::optional<double> peak;
    for (const ProcessOutcome& run : runs) {
      if (const auto value = field(run)) peak = std::max(peak.value_or(0), static_cast<double>(*value));
    }
    if (peak) {
      recorder.put(event, *peak);
    } else {
      recorder.lack(event, "the program was too short to be watched");
    }
  };
  record_peak("max_rss_bytes", [](const auto& run) { return run.peak_resident_bytes; });
  record_peak("threads_peak_count", [](const auto& run) { return run.threads; });
  record_peak("processes_peak_count", [](const auto& run) { return run.processes; });
  record_peak("open_files_peak_count", [](const auto& run) { return run.descriptors; });
}

void judge_runs(const Runs& runs, Collection& result) {
  const ProcessOutcome& first = runs.front();
  if (first.left_behind > 0) {
    result.warnings.push_back({"left-behind",
                               fmt::format("{} process(es) of the program were still running when it ended; their work "
                                           "after that is not in the profile",
                                           first.left_behind),
                               "profile the background program itself, or make the program wait for it"});
  }
  const double wall_s = median(values_of(runs, [](const auto& run) { return run.wall_s; }));
  if (wall_s < 0.010) {
    result.warnings.push_back(
        {"too-short", fmt::format("the program ran {}: its start-up dominates the timing", human_seconds(wall_s)),
         "give it more work, at least 0.1 s"});
    return;
  }
  const double cpu_spread = spread(values_of(runs, [](const auto& run) { return run.cpu_s(); }));
  if (runs.size() > 1 && cpu_spread > 0.10) {
    result.warnings.push_back(
        {"noisy-host",
         fmt::format("CPU time varied by {:.0f}% between {} runs: seconds are as uncertain, counts are not",
                     100 * cpu_spread, runs.size()),
         "a quiet machine, or more runs: --repeats 10"});
  }
}

std::vector<CourseInterval> course_of(const ProcessOutcome& run) {
  std::vector<CourseInterval> course;
  for (const RunInterval& seen : run.course) {
    if (seen.length_s <= 0) continue;
    CourseInterval interval;
    interval.length_s = seen.length_s;
    interval.running_count = seen.cpu_s / seen.length_s;
    interval.ready_count = seen.ready_s / seen.length_s;
    interval.blocked_count =
        std::max(0.0, seen.threads_s / seen.length_s - interval.running_count - interval.ready_count);
    interval.system_ratio = seen.cpu_s > 0 ? std::min(1.0, seen.system_s / seen.cpu_s) : 0;
    interval.page_faults_minor_count = seen.minor_faults;
    interval.resident_bytes = seen.resident_bytes;
    course.push_back(interval);
  }
  return course;
}

bool ends_all(const Error& error) { return error.kind == ErrorKind::kInterrupted || is_of_around(error); }

// One more run, traced: who did the work, where there are several processes. Without one, what follows treats them as
// one; only an interrupt is an error.
Status take_census(ProcessRequest process, double limit_s, const ProcessOutcome& first,
                   std::optional<ProfileWarning>& done_once, Collection& result) {
  if (process.input != nullptr && !process.input->repeatable()) return {};
  if (limit_s < 0) return {};
  ProcessCensus census;
  Status began;
  process.output = StreamTo::kDiscard;
  process.error = StreamTo::kTail;
  process.keep_background = false;
  process.limit_s = limit_s;
  process.before_exec = [&](pid_t child) { began = census.begin(child); };
  const auto outcome = run_process(process);
  if (!outcome && ends_all(outcome.error())) return outcome.error();
  std::string why;
  if (!began) {
    why = began.error().message;
  } else if (!outcome) {
    why = outcome.error().message;
  } else if (outcome->limit_reached) {
    why = "the time limit was reached";
  } else if (outcome->exit_code != first.exit_code || outcome->signal != first.signal) {
    why = "traced, the program ended differently";
  }
  if (why.empty() && (done_once = work_done_once(first, *outcome))) return {};
  if (why.empty()) {
    result.census = census.end();
  } else {
    result.warnings.push_back({"no-census", "the CPU time of the command's processes is not known apart: " + why,
                               "a command that can be repeated, where processes may be traced"});
  }
  return {};
}

bool writes_little(const ProcessOutcome& run) {
  return run.ok() && run.io && run.io->written_bytes <= kDigestedBytes && run.io->write_calls <= kDigestedWrites;
}

void record_memory(const Runs& runs, Collection& result) {
  for (const ProcessOutcome& run : runs) {
    result.memory_bytes = std::max(result.memory_bytes, run.peak_resident_bytes.value_or(0));
    result.address_bytes = std::max(result.address_bytes, run.peak_address_bytes.value_or(0));
    for (const RunInterval& seen : run.course) result.memory_bytes = std::max(result.memory_bytes, seen.resident_bytes);
    if (run.digest) result.outputs.push_back(*run.digest);
  }
}

ProfileWarning no_code_course(const Error& why) {
  return {"no-native-phases", "native time is not known phase by phase: " + why.message, why.expected};
}

StreamTo first_output(const CollectRequest& request) {
  if (request.pass_output) return StreamTo::kPass;
  return request.show_output ? StreamTo::kStderr : StreamTo::kDiscard;
}

}  // namespace

CollectResult NativeCollector::collect(const CollectRequest& request) {
  const auto program = inspect_program(request.command);
  if (!program) return program.error();
  if (!program->runs_here) {
    return Error{"wrong-machine",
                 fmt::format("the program is built for {}, this machine is {}", program->elf.instruction_set,
                             host_instruction_set()),
                 program->path, "a native run on such a machine"};
  }
  Collection result;
  result.record.name = name();
  result.record.version = host_.kernel;
  result.instruction_set = program->elf.instruction_set;

  ProcessRequest process;
  process.executable = program->path;
  process.arguments = request.command;
  process.input = request.input;
  process.around = request.around;
  process.watch = true;
  if (request.code_courses) request.code_courses->clear();
  Runs runs;
  std::vector<EnergyReport> energies;  // of the runs, where there are meters
  const bool metered = energy_ != nullptr && energy_->has_meters();
  double total_s = 0;
  bool differs = false;
  std::optional<ProfileWarning> done_once;
  // A stream's writer sets the pace of the first run: its time is taken only where there is no other.
  const bool paced = request.input != nullptr && request.input->is_stream();
  const int repeats = request.quick ? 1 : std::max(1, request.native_repeats);
  const int wanted = repeats + (paced && repeats > 1 ? 1 : 0);
  for (int run = 0; run < wanted; ++run) {
    const bool first = run == 0;
    process.output = first                         ? first_output(request)
                     : writes_little(runs.front()) ? StreamTo::kDigest
                                                   : StreamTo::kDiscard;
    process.error = first && (request.pass_output || request.show_output) ? StreamTo::kPass : StreamTo::kTail;
    process.keep_background = first && request.pass_output;
    std::unique_ptr<CodeCourseWatch> code;
    if (request.code_courses) code = std::make_unique<CodeCourseWatch>();
    Status sampled;
    process.before_exec = [&](pid_t child) {
      if (first && counters_ != nullptr) counters_->attach(child);
      if (code) sampled = code->attach(child);
    };
    process.on_look = nullptr;
    if (code) process.on_look = [&](double, const std::vector<pid_t>& processes) { code->look(processes); };
    process.looks_apart_s = code ? kCodeLooksApart_s : 0;
    process.limit_s = request.limit_s > 0 ? std::max(0.001, request.limit_s - total_s) : 0;
    if (metered) energy_->start();
    auto outcome = run_process(process);
    EnergyReport energy;
    if (metered) energy = energy_->stop();
    if (!outcome && (first || ends_all(outcome.error()))) return outcome.error();
    if (!outcome) break;
    if (outcome->limit_reached && first) {
      return {RunEnd::kLimit, Error{"limit-reached",
                                    fmt::format("the program did not end within the limit of {} and was ended",
                                                human_seconds(request.limit_s)),
                                    join(request.command, " "), "a longer time limit, or less work for the program"}};
    }
    if (outcome->limit_reached) break;
    total_s += outcome->wall_s;
    if (!first && (outcome->exit_code != runs.front().exit_code || outcome->signal != runs.front().signal)) {
      differs = true;
      break;
    }
    if (!first && (done_once = work_done_once(runs.front(), *outcome))) break;
    if (code && sampled) request.code_courses->push_back(code->finish(outcome->cpu_s()));
    if (code && !sampled && first) result.warnings.push_back(no_code_course(sampled.error()));
    runs.push_back(std::move(*outcome));
    energies.push_back(std::move(energy));
    const bool time_is_up =
        request.limit_s > 0 && total_s + (1 + kInstrumentedSlowdown) * runs.back().wall_s > request.limit_s;
    const bool last = time_is_up || !runs.back().ok() || runs.back().wall_s >= kLongRun_s ||
                      total_s >= request.native_series_s || (request.input != nullptr && !request.input->repeatable());
    if (last && !(first && paced && runs.back().ok() && request.input->repeatable())) break;
  }
  result.exit_code = runs.front().exit_code;
  result.signal = runs.front().signal;
  if (!differs && !done_once && runs.front().had_children) {
    process.on_look = nullptr;
    const Status taken =
        take_census(process, request.limit_s > 0 ? request.limit_s - total_s : 0, runs.front(), done_once, result);
    if (!taken) return taken.error();
  }
  if (differs) {
    result.warnings.push_back({"runs-differ",
                               "the program ended differently when it was run again: it depends on what an earlier run "
                               "left, and only the first run is timed",
                               "a command that can be repeated, such as one that writes to standard output"});
    runs.resize(1);
    energies.resize(1);
  }
  // What was already there before is not told: the first run may have found work of other runs done, too.
  if (done_once) {
    result.warnings.push_back(*std::move(done_once));
    runs.resize(1);
    energies.resize(1);
  }
  // Later runs of a program that reads the terminal find no input: fewer bytes read tell.
  const bool at_terminal = request.input != nullptr && request.input->is_terminal() && runs.size() > 1;
  if (at_terminal && runs[0].io && runs[1].io && runs[0].io->read_bytes > runs[1].io->read_bytes) {
    result.warnings.push_back(
        {"terminal-input",
         "the program seems to have read the terminal: later runs, the instrumented one too, found "
         "no input and did other work",
         "the input from a file: < FILE"});
    runs.resize(1);
    energies.resize(1);
  }
  if (request.input != nullptr && !request.input->repeatable()) {
    result.warnings.push_back(
        {"input-too-large", "the piped input is too large to be kept for further runs", "the input as a file: < FILE"});
  }
  record_memory(runs, result);
  result.course = course_of(runs.front());
  if (!runs.front().error_tail.empty() && !runs.front().ok()) result.record.note = runs.front().error_tail;
  if (paced && runs.size() > 1) {
    runs.erase(runs.begin());
    energies.erase(energies.begin());
    result.record.note = "the first run, paced by the writer of its standard input, is not among the timed ones";
  }
  result.record.seconds_s = total_s;
  result.record.status = "ok";
  Recorder recorder(result, name());
  record_times(runs, recorder);
  record_resources(runs, recorder);
  record_energy(
      energies, energy_ == nullptr ? "no meter was looked for" : energy_->why_none(),
      [&recorder](const char* event, double joules) { recorder.put(event, joules); },
      [&recorder](const char* event, const std::string& reason) { recorder.lack(event, reason); });
  if (const auto levels = page_table_levels(host_)) {
    recorder.put("page_table_levels_count", static_cast<double>(*levels));
  } else {
    recorder.lack("page_table_levels_count", "nothing on this machine states it");
  }
  recorder.lack("files_opened_count", "counted by the instrumented run");
  judge_runs(runs, result);
  return result;
}

DoctorFinding NativeCollector::examine() {
  const auto found = collect(trial_request());
  if (!found) return missing(found.error());
  return {name(), "ok", "time, resources, input and output, by kernel " + host_.kernel, ""};
}

}  // namespace perfcast
