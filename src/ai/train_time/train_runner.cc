#include "ai/train_time/train_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include "ai/train_time/train_log.h"
#include "base/process/interrupt.h"
#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "base/process/spawn.h"
#include "base/text.h"
#include "machine/meter/energy_session.h"

namespace perfcast::ai {
namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* kSeedWord = "{seed}";
constexpr size_t kKeptTail = 4096, kTailWords = 200, kMostNames = 100;

std::vector<std::string> with_seed(const std::vector<std::string>& command, int64_t seed) {
  std::vector<std::string> words = command;
  for (std::string& word : words) {
    for (size_t at = word.find(kSeedWord); at != std::string::npos; at = word.find(kSeedWord, at)) {
      const std::string number = std::to_string(seed);
      word.replace(at, std::strlen(kSeedWord), number);
      at += number.size();
    }
  }
  return words;
}

// What one training prints, read on a thread of its own.
class OutputReader {
 public:
  OutputReader(const TrainRunRequest& request, const StartPattern& start, TrainCurve& curve)
      : request_(request), start_(start), curve_(curve) {}
  ~OutputReader() { finish(); }
  OutputReader(const OutputReader&) = delete;
  OutputReader& operator=(const OutputReader&) = delete;

  Status open() {
    if (pipe_.open()) return {};
    return environment_error("process-error", std::string("cannot make a pipe: ") + std::strerror(errno), "",
                             "free descriptors");
  }
  int write_end() const { return pipe_.write_end.get(); }
  // From now on; call started() when the program begins.
  void follow() {
    fcntl(pipe_.read_end.get(), F_SETFL, O_NONBLOCK);
    thread_ = std::jthread([this](const std::stop_token& stop) { read_all(stop); });
  }
  void started() {
    if (start_.is_empty()) start_clock();
  }
  // All that was written is read; the thread has ended.
  void finish() {
    pipe_.write_end.reset();
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
  }
  const Status& recorded() const { return recorded_; }
  const std::string& tail() const { return tail_; }
  // What it printed values of, as long as none of the metric came.
  const std::set<std::string>& names() const { return names_; }
  bool clock_started() const { return started_ns_ != kNotStarted; }

 private:
  static constexpr int64_t kNotStarted = -1;
  static int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
  }
  void start_clock() { started_ns_ = now_ns(); }

  void read_all(const std::stop_token& stop) {
    constexpr int kWait_ms = 50;
    const auto take = [this](std::string_view line) { take_line(line); };
    std::array<char, 65536> bytes;
    while (true) {
      pollfd waiting = {pipe_.read_end.get(), POLLIN, 0};
      const int ready = poll(&waiting, 1, kWait_ms);
      if (ready < 0 && errno != EINTR) break;
      // A descendant that outlived the program may hold the pipe open.
      if (ready <= 0) {
        if (stop.stop_requested()) break;
        continue;
      }
      const ssize_t count = read(pipe_.read_end.get(), bytes.data(), bytes.size());
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (count <= 0) break;
      arrived_ns_ = now_ns();
      cutter_.add({bytes.data(), static_cast<size_t>(count)}, take);
    }
    cutter_.finish(take);
  }

  void take_line(std::string_view raw) {
    if (request_.show_output) {
      const std::string shown = std::string(raw) + "\n";
      static_cast<void>(write(STDERR_FILENO, shown.data(), shown.size()) < 0);
    }
    const std::string line = without_escapes(raw);
    tail_.append(line).append("\n");
    if (tail_.size() > 2 * kKeptTail) tail_.erase(0, tail_.size() - kKeptTail);
    if (!clock_started()) {
      if (start_.is_empty() || !start_.finds(line)) return;
      started_ns_ = arrived_ns_;
    }
    const auto value = request_.reader->read(line);
    if (!value && curve_.readings.empty() && names_.size() < kMostNames) {
      for (std::string& name : metric_names_in(line)) names_.insert(std::move(name));
    }
    if (!value || curve_.readings.size() >= kMostReadings) return;
    constexpr double kNanosecond_s = 1e-9;
    const auto since_ns = static_cast<double>(std::max<int64_t>(0, arrived_ns_ - started_ns_));
    curve_.readings.push_back({kNanosecond_s * since_ns, *value});
    if (recorded_) recorded_ = request_.record(train_log_reading(curve_.system, curve_.seed, curve_.readings.back()));
    if (request_.progress) {
      request_.progress(fmt::format("{}, seed {}: {} = {:.6g} after {}", curve_.system, curve_.seed,
                                    request_.reader->metric(), *value, human_seconds(kNanosecond_s * since_ns)));
    }
  }

  const TrainRunRequest& request_;
  const StartPattern& start_;
  TrainCurve& curve_;
  Pipe pipe_;
  LineCutter cutter_;
  std::atomic<int64_t> started_ns_{kNotStarted};
  int64_t arrived_ns_ = 0;
  std::string tail_;
  std::set<std::string> names_;
  Status recorded_;
  std::jthread thread_;  // the last: it uses all others
};

std::string last_line_of(const std::string& tail) {
  std::string words = printable(trim(tail));
  if (words.size() > kTailWords) words.erase(0, words.size() - kTailWords);
  return words;
}

void take_outcome(const ProcessOutcome& outcome, const TrainRunRequest& request, const OutputReader& output,
                  TrainCurve& curve) {
  curve.wall_s = outcome.wall_s;
  if (outcome.limit_reached) {
    curve.state = TrainRunState::kLimit;
    curve.why = fmt::format("took more than {}", human_seconds(request.limit_s));
    return;
  }
  curve.state = outcome.ok() ? TrainRunState::kDone : TrainRunState::kFailed;
  if (outcome.ok()) {
    if (!output.clock_started()) curve.why = "no line matched the pattern that starts the clock";
    return;
  }
  curve.why = outcome.signal ? "killed by signal " + signal_text(*outcome.signal)
                             : fmt::format("status {}", outcome.exit_code.value_or(0));
  const std::string words = last_line_of(output.tail());
  if (!words.empty()) curve.why += ": " + words;
}

void take_meters(const EnergyReport& energy, TrainCurve& curve) {
  for (const MeterEnergy& each : energy.meters) {
    RunMeter meter;
    meter.name = each.meter.name;
    meter.covers = each.meter.covers;
    meter.energy_joules = each.joules;
    meter.uncertainty_joules = each.uncertainty_joules;
    meter.why_missing = each.why_missing;
    curve.meters.push_back(std::move(meter));
  }
}

// What was printed in place of a metric, nearest names first; empty: nothing was.
std::string names_in_words(const std::set<std::string>& names, const std::string& metric) {
  constexpr size_t kMostNamed = 6;
  if (names.empty()) return "";
  return "it printed values of " +
         printable(nearest_names(metric, std::vector<std::string>(names.begin(), names.end()), kMostNamed));
}

Error no_metric(const TrainCurve& curve, const std::string& metric, const std::string& printed) {
  return {"no-metric",
          fmt::format("{}, seed {}, ended without a value of '{}'; {}", printable(curve.system), curve.seed,
                      printable(metric), printed.empty() ? "no line has a value in a form that is known" : printed),
          "--metric", "the metric's name as it is printed, or --pattern: a regular expression with a group"};
}

// One training to its end; `printed`: names_in_words(). An interrupt comes back as the error, after the record has the
// run's end.
Result<TrainCurve> run_one(const TrainRunRequest& request, const TrainSystem& system, int64_t seed,
                           const StartPattern& start, EnergySession* energy, std::string& printed) {
  TrainCurve curve;
  curve.system = system.name;
  curve.seed = seed;
  const std::vector<std::string> command = with_seed(system.command, seed);
  const auto program = inspect_program(command);
  if (!program) return program.error();
  if (Status recorded = request.record(train_log_start(system.name, seed, command)); !recorded) return recorded.error();
  OutputReader output(request, start, curve);
  if (Status opened = output.open(); !opened) return opened.error();
  ProcessRequest process;
  process.executable = program->path;
  process.arguments = command;
  process.environment = {{"PERFCAST_SEED", std::to_string(seed)}, {"PYTHONUNBUFFERED", "1"}};
  process.output = process.error = StreamTo::kGiven;
  process.given_descriptor = output.write_end();
  process.limit_s = request.limit_s;
  process.before_exec = [&output](pid_t) { output.started(); };
  if (energy != nullptr) energy->start();
  output.follow();
  const auto outcome = run_process(process);
  output.finish();
  if (energy != nullptr) take_meters(energy->stop(), curve);
  if (outcome) {
    take_outcome(*outcome, request, output, curve);
  } else {
    curve.state =
        outcome.error().kind == ErrorKind::kInterrupted ? TrainRunState::kInterrupted : TrainRunState::kFailed;
    curve.why = outcome.error().message;
  }
  if (curve.readings.empty()) printed = names_in_words(output.names(), request.reader->metric());
  if (curve.state == TrainRunState::kFailed && !printed.empty()) curve.why += "; " + printed;
  if (const Status& recorded = output.recorded(); !recorded) return recorded.error();
  if (Status recorded = request.record(train_log_end(curve)); !recorded) return recorded.error();
  if (!outcome) return outcome.error();
  return curve;
}

}  // namespace

bool TrainSystem::takes_seed() const {
  return std::any_of(command.begin(), command.end(),
                     [](const std::string& word) { return word.find(kSeedWord) != std::string::npos; });
}

Status check_programs(const std::vector<TrainSystem>& systems) {
  for (const TrainSystem& system : systems) {
    const bool hangs_on_seed = !system.command.empty() && system.command.front().find(kSeedWord) != std::string::npos;
    if (hangs_on_seed) continue;
    if (auto program = inspect_program(system.command); !program) return program.error();
  }
  return {};
}

Result<std::vector<TrainCurve>> run_trainings(const TrainRunRequest& request) {
  const auto start = StartPattern::create(request.start_pattern);
  if (!start) return start.error();
  const InterruptGuard guard;
  std::optional<EnergySession> energy;
  if (request.meters != nullptr && !request.meters->meters.empty()) energy.emplace(request.meters->all());
  std::vector<TrainCurve> curves;
  curves.reserve(request.seeds.size() * request.systems.size());
  std::set<std::string> known_to_print;
  for (const auto& [system, seed] : request.done) known_to_print.insert(system);
  for (const int64_t seed : request.seeds) {
    for (const TrainSystem& system : request.systems) {
      const auto known = std::find(request.done.begin(), request.done.end(), std::pair(system.name, seed));
      if (known != request.done.end()) continue;
      if (request.progress) request.progress(fmt::format("{}, seed {} ...", system.name, seed));
      std::string printed;
      auto curve = run_one(request, system, seed, *start, energy ? &*energy : nullptr, printed);
      if (!curve) return curve.error();
      if (!curve->readings.empty()) known_to_print.insert(system.name);
      const bool ended_well = curve->state == TrainRunState::kDone && curve->why.empty();
      if (ended_well && !known_to_print.contains(system.name)) {
        return no_metric(*curve, request.reader->metric(), printed);
      }
      curves.push_back(std::move(*curve));
    }
  }
  return curves;
}

}  // namespace perfcast::ai
