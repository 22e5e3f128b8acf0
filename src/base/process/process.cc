#include "base/process/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <set>

#include "base/file.h"
#include "base/process/ending.h"
#include "base/process/interrupt.h"
#include "base/process/process_tree.h"
#include "base/process/spawn.h"
#include "base/text.h"

namespace perfcast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kTailBytes = 4096, kWordsShown = 200;
constexpr uint64_t kHashOfNothing = 0xcbf29ce484222325u;
constexpr auto kFirstSample = std::chrono::milliseconds(1);
constexpr auto kSlowestSample = std::chrono::milliseconds(25);
constexpr auto kMemoryLooks = std::chrono::milliseconds(50);  // apart at most, where memory is limited

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

Error system_error(const std::string& doing) {
  return environment_error("process-error", "cannot " + doing + ": " + std::strerror(errno), "",
                           "free processes, memory and descriptors");
}

std::optional<ProcessIo> read_io(pid_t process) {
  const auto text = read_file("/proc/" + std::to_string(process) + "/io", 4096);
  if (!text) return std::nullopt;
  ProcessIo io;
  const std::array<std::pair<const char*, double*>, 6> fields = {{{"rchar: ", &io.read_bytes},
                                                                  {"wchar: ", &io.written_bytes},
                                                                  {"syscr: ", &io.read_calls},
                                                                  {"syscw: ", &io.write_calls},
                                                                  {"\nread_bytes: ", &io.storage_read_bytes},
                                                                  {"\nwrite_bytes: ", &io.storage_written_bytes}}};
  for (const auto& [name, target] : fields) {
    const size_t at = text->find(name);
    if (at == std::string::npos) return std::nullopt;
    const char* start = text->data() + at + std::strlen(name);
    uint64_t value = 0;
    if (std::from_chars(start, text->data() + text->size(), value).ec != std::errc()) return std::nullopt;
    *target = static_cast<double>(value);
  }
  return io;
}

// Every process that it has waited for had some minor faults: cminflt.
bool waited_for_children(pid_t process) {
  const auto text = read_file("/proc/" + std::to_string(process) + "/stat", 4096);
  return text && stat_number(*text, 11) > 0;
}

ProcessIo difference(const ProcessIo& after, const ProcessIo& before) {
  const auto minus = [](double a, double b) { return std::max(0.0, a - b); };
  return {minus(after.read_bytes, before.read_bytes),
          minus(after.written_bytes, before.written_bytes),
          minus(after.read_calls, before.read_calls),
          minus(after.write_calls, before.write_calls),
          minus(after.storage_read_bytes, before.storage_read_bytes),
          minus(after.storage_written_bytes, before.storage_written_bytes)};
}

// Sharing the terminal's foreground, the program stays in our group: alone in another it could not read the terminal.
bool in_terminal_foreground() {
  const Descriptor terminal(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  return terminal.get() >= 0 && tcgetpgrp(terminal.get()) == getpgrp();
}

class Run {
 public:
  explicit Run(const ProcessRequest& request) : request_(request) {}
  ~Run() { abandon(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Result<ProcessOutcome> execute();

 private:
  Status start();
  Status release();
  void wait_for_end();
  void handle(const std::array<pollfd, 5>& events);
  void sample();
  bool is_looked_at() const { return request_.watch || request_.memory_limit_bytes > 0; }
  void hold_memory(const std::vector<pid_t>& processes, double resident_bytes);
  void drain_tail();
  void drain_output();
  void ask_to_end(int number);
  void abandon();
  Result<ProcessOutcome> conclude();
  int output_descriptor(StreamTo to, int standard) const;

  const ProcessRequest& request_;
  const InterruptGuard interrupts_;
  Guardian guardian_;
  std::set<pid_t> not_ours_;  // children of this process that the program has nothing to do with
  std::optional<HeldChild> held_;
  Pipe tail_, digested_;
  Descriptor pidfd_;
  pid_t child_ = -1;
  bool own_group_ = true;
  std::optional<ProcessIo> io_before_;
  ProcessState state_before_;
  double watched_peak_bytes_ = 0, watched_address_bytes_ = 0;
  Clock::time_point started_, ended_, next_sample_;
  Ending ending_;
  Clock::duration sample_interval_ = kFirstSample;
  bool interrupted_ = false, finished_ = false, given_up_ = false;
  ProcessOutcome outcome_;
  RunCourse course_;
};

int Run::output_descriptor(StreamTo to, int standard) const {
  switch (to) {
    case StreamTo::kPass:
      return standard;
    case StreamTo::kStderr:
      return STDERR_FILENO;
    case StreamTo::kTail:
      return tail_.write_end.get();
    case StreamTo::kDigest:
      return digested_.write_end.get();
    case StreamTo::kGiven:
      return request_.given_descriptor;
    case StreamTo::kDiscard:
      break;
  }
  return -1;
}

Status Run::start() {
  if (!tail_.open()) return system_error("make a pipe");
  fcntl(tail_.read_end.get(), F_SETFL, O_NONBLOCK);
  if (request_.output == StreamTo::kDigest) {
    if (!digested_.open()) return system_error("make a pipe");
    fcntl(digested_.read_end.get(), F_SETFL, O_NONBLOCK);
    outcome_.digest = OutputDigest{0, kHashOfNothing};
  }
  SpawnRequest spawned;
  spawned.executable = request_.executable;
  spawned.arguments = request_.arguments;
  spawned.environment = request_.environment;
  spawned.fixed_addresses = request_.fixed_addresses;
  if (request_.input != nullptr) {
    const auto given = request_.input->begin_run();
    if (!given) return given.error();
    spawned.input = *given;
  }
  spawned.output = output_descriptor(request_.output, STDOUT_FILENO);
  Descriptor output_file;
  if (!request_.output_file.empty()) {
    output_file.reset(open(request_.output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (output_file.get() < 0) return system_error("write the program's output");
    spawned.output = output_file.get();
  }
  spawned.error = output_descriptor(request_.error, STDERR_FILENO);
  own_group_ = !in_terminal_foreground();
  spawned.own_group = own_group_;
  for (const pid_t child : children_of(getpid())) not_ours_.insert(child);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  auto held = spawn_held(spawned);
  if (!held) return held.error();
  held_ = std::move(*held);
  child_ = held_->process();
  guardian_.watch(child_, own_group_);
  pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, child_, 0U)));
  if (pidfd_.get() < 0) return system_error("watch the program");
  if (request_.input != nullptr) request_.input->program_started();
  tail_.write_end.reset();
  digested_.write_end.reset();
  return {};
}

// Lets the stopped child become the program.
Status Run::release() {
  io_before_ = read_io(child_);
  state_before_ = full_state_of(child_);
  if (request_.before_exec) request_.before_exec(child_);
  started_ = Clock::now();
  return held_->release();
}

// Resident memory counts twice what processes share: it is looked at closely where it comes near the limit.
void Run::hold_memory(const std::vector<pid_t>& processes, double resident_bytes) {
  if (request_.memory_limit_bytes <= 0 || resident_bytes <= request_.memory_limit_bytes) return;
  if (processes.size() > 1 && memory_bytes_of(processes) <= request_.memory_limit_bytes) return;
  outcome_.memory_limit_reached = true;
  for (const pid_t process : processes) kill(process, SIGKILL);
  ask_to_end(SIGKILL);
}

void Run::sample() {
  if (!is_looked_at() || outcome_.memory_limit_reached) return;
  const auto now = Clock::now();
  if (now < next_sample_) return;
  std::vector<pid_t> processes = descendants_of(child_);
  processes.push_back(child_);
  int64_t threads = 0, descriptors = 0;
  double resident_bytes = 0;
  for (const pid_t process : processes) {
    const ProcessState state = state_of(process);
    threads += state.threads;
    watched_peak_bytes_ = std::max(watched_peak_bytes_, state.peak_resident_bytes);
    watched_address_bytes_ = std::max(watched_address_bytes_, state.peak_address_bytes);
    resident_bytes += state.resident_bytes;
    if (request_.watch) descriptors += std::max(0, open_descriptors(process));
  }
  hold_memory(processes, resident_bytes);
  const double now_s = std::chrono::duration<double>(now - started_).count();
  if (request_.watch) course_.look(now_s, processes);
  if (request_.on_look) request_.on_look(now_s, processes);
  // A zombie still counts a thread and no descriptor: seen then, the program was too short to be sampled.
  if (descriptors > 0) {
    outcome_.processes = std::max(outcome_.processes.value_or(0), static_cast<int64_t>(processes.size()));
    outcome_.threads = std::max(outcome_.threads.value_or(0), threads);
    outcome_.descriptors = std::max(outcome_.descriptors.value_or(0), descriptors);
  }
  const auto cost = Clock::now() - now;
  sample_interval_ = std::max<Clock::duration>(sample_interval_, 50 * cost);  // at most 2% of a core
  next_sample_ = Clock::now() + sample_interval_;
  sample_interval_ = std::min<Clock::duration>(sample_interval_ * 5 / 4, kSlowestSample);
  if (request_.looks_apart_s > 0) {
    const auto apart =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(request_.looks_apart_s));
    next_sample_ = std::min(next_sample_, Clock::now() + apart);
  }
  if (request_.memory_limit_bytes > 0) next_sample_ = std::min(next_sample_, Clock::now() + kMemoryLooks);
}

void Run::drain_tail() {
  std::array<char, 16384> chunk;
  while (true) {
    const ssize_t count = read(tail_.read_end.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) tail_.read_end.reset();
    if (count <= 0) break;
    outcome_.error_tail.append(chunk.data(), static_cast<size_t>(count));
    if (outcome_.error_tail.size() > 4 * kTailBytes) {
      outcome_.error_tail.erase(0, outcome_.error_tail.size() - kTailBytes);
    }
  }
}

void Run::drain_output() {
  std::array<unsigned char, 65536> chunk;
  while (true) {
    const ssize_t count = read(digested_.read_end.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) digested_.read_end.reset();
    if (count <= 0) break;
    OutputDigest& digest = *outcome_.digest;
    digest.bytes += static_cast<double>(count);
    for (ssize_t i = 0; i < count; ++i) {
      digest.hash = (digest.hash ^ chunk.at(static_cast<size_t>(i))) * 0x100000001b3u;
    }
  }
}

void Run::ask_to_end(int number) {
  if (!ending_.asked()) kill(own_group_ ? -child_ : child_, number);
  ending_.ask(Clock::now());
}

void Run::handle(const std::array<pollfd, 5>& events) {
  if (events[0].revents != 0) {
    ended_ = Clock::now();
    finished_ = true;
  }
  if (events[1].revents != 0) {
    InterruptGuard::acknowledge();
    interrupted_ = true;
    ask_to_end(interrupting_signal());
  }
  if (events[2].revents != 0) drain_tail();
  if (events[3].revents != 0) request_.input->pump();
  if (events[4].revents != 0) drain_output();
}

void Run::wait_for_end() {
  const auto limit = request_.limit_s > 0
                         ? started_ + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(std::min(request_.limit_s, 1e9)))
                         : Clock::time_point::max();
  while (!finished_) {
    sample();
    const auto now = Clock::now();
    if (now >= limit && !outcome_.limit_reached) {
      outcome_.limit_reached = true;
      ask_to_end(SIGTERM);
    }
    const Ending::Step step = ending_.step(now);
    if (step == Ending::Step::kKill) kill(child_, SIGKILL);
    given_up_ = step == Ending::Step::kGiveUp;
    if (given_up_) return;
    auto wake = outcome_.limit_reached ? Clock::time_point::max() : limit;
    wake = std::min(wake, ending_.due());
    if (is_looked_at() && !outcome_.memory_limit_reached) wake = std::min(wake, next_sample_);
    timespec timeout{};
    if (wake != Clock::time_point::max()) {
      const auto left = std::chrono::nanoseconds(std::max(Clock::duration(std::chrono::microseconds(50)), wake - now));
      timeout.tv_sec = left.count() / 1'000'000'000;
      timeout.tv_nsec = left.count() % 1'000'000'000;
    }
    const pollfd input = request_.input != nullptr ? request_.input->wants() : pollfd{-1, 0, 0};
    std::array<pollfd, 5> events = {pollfd{pidfd_.get(), POLLIN, 0}, pollfd{InterruptGuard::descriptor(), POLLIN, 0},
                                    pollfd{tail_.read_end.get(), POLLIN, 0}, input,
                                    pollfd{digested_.read_end.get(), POLLIN, 0}};
    const int ready =
        ppoll(events.data(), events.size(), wake == Clock::time_point::max() ? nullptr : &timeout, nullptr);
    if (ready > 0) handle(events);
  }
}

Result<ProcessOutcome> Run::conclude() {
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOWAIT);
  outcome_.had_children = waited_for_children(child_) || outcome_.processes.value_or(1) > 1;
  const auto io = read_io(child_);
  if (io) outcome_.io = difference(*io, io_before_.value_or(ProcessIo{}));
  // While the zombie stands its number can't belong to another: after this the guardian must not act.
  if (interrupted_ || outcome_.limit_reached) {
    not_ours_.insert(guardian_.process());
    not_ours_.insert(child_);
    if (own_group_) kill(-child_, SIGKILL);
    end_descendants(not_ours_);
  }
  guardian_.dismiss();
  int status = 0;
  rusage usage{};
  wait4(child_, &status, 0, &usage);
  child_ = -1;
  if (tail_.read_end.get() >= 0) drain_tail();
  if (digested_.read_end.get() >= 0) drain_output();
  if (watched_address_bytes_ > 0) outcome_.peak_address_bytes = watched_address_bytes_;
  if (outcome_.error_tail.size() > kTailBytes) outcome_.error_tail.erase(0, outcome_.error_tail.size() - kTailBytes);

  for (const pid_t process : descendants_of(getpid(), not_ours_)) {
    outcome_.left_behind += is_zombie(process) ? 0 : 1;
    outcome_.had_children = true;
  }
  if (!request_.keep_background || outcome_.left_behind == 0) end_descendants(not_ours_);

  if (WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
  outcome_.wall_s = std::chrono::duration<double>(ended_ - started_).count();
  // What the child did before it became the program (its copy of our pages) is not the program's. The kernel splits
  // short times by ticks: which part it charged that to is unknown.
  const double cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  const double share = cpu_s > 0 ? std::max(0.0, cpu_s - state_before_.cpu_s) / cpu_s : 0;
  outcome_.user_s = share * seconds_of(usage.ru_utime);
  outcome_.system_s = share * seconds_of(usage.ru_stime);
  outcome_.course = course_.finish(outcome_.wall_s, outcome_.cpu_s());
  outcome_.minor_faults = std::max(0.0, static_cast<double>(usage.ru_minflt) - state_before_.minor_faults);
  // The kernel carries the peak over exec: up to our own size it says nothing.
  const double peak_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
  if (peak_bytes > 1.02 * state_before_.peak_resident_bytes) {
    outcome_.peak_resident_bytes = peak_bytes;
  } else if (watched_peak_bytes_ > 0) {
    outcome_.peak_resident_bytes = watched_peak_bytes_;
  }
  outcome_.major_faults = static_cast<double>(usage.ru_majflt);
  outcome_.voluntary_switches =
      std::max(0.0, static_cast<double>(usage.ru_nvcsw) - state_before_.voluntary_switches - 1);  // 1: waiting for us
  outcome_.involuntary_switches =
      std::max(0.0, static_cast<double>(usage.ru_nivcsw) - state_before_.involuntary_switches);
  if (interrupted_) {
    return interrupted_error(
        std::string("interrupted by SIG") + sigabbrev_np(interrupting_signal()) + "; the program was ended",
        request_.executable);
  }
  return outcome_;
}

void Run::abandon() {
  if (request_.input != nullptr) request_.input->end_run();
  if (child_ > 0) {
    kill(child_, SIGKILL);
    guardian_.dismiss();
    // It is a descendant like the others: waited for, but not for ever.
    end_descendants(not_ours_);
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

Result<ProcessOutcome> Run::execute() {
  if (interrupting_signal() != 0) {
    return interrupted_error(std::string("interrupted by SIG") + sigabbrev_np(interrupting_signal()),
                             request_.executable);
  }
  if (const Status status = start(); !status) return status.error();
  if (const Status status = release(); !status) return status.error();
  wait_for_end();
  if (given_up_) {
    return environment_error("not-ended", "process " + std::to_string(child_) + " does not end, not even by SIGKILL",
                             request_.executable,
                             "what it waits for, a network file system or a device, to come back: /proc/" +
                                 std::to_string(child_) + "/wchan");
  }
  return conclude();
}

// One of the lines around a run. `name`: of the field.
Status run_line(const std::string& line, const char* name, const char* when) {
  if (line.empty()) return {};
  ProcessRequest request;
  request.executable = "/bin/sh";
  request.arguments = {"sh", "-c", line};
  const auto outcome = Run(request).execute();
  if (!outcome) return outcome.error();
  if (outcome->ok()) return {};
  std::string message = "what is to run " + std::string(when) + " each run " +
                        (outcome->signal ? "was killed by signal " + signal_text(*outcome->signal)
                                         : "ended with exit code " + std::to_string(outcome->exit_code.value_or(0)));
  const std::string words = printable(trim(outcome->error_tail));
  if (!words.empty()) message += ": " + words.substr(words.size() > kWordsShown ? words.size() - kWordsShown : 0);
  return Error{std::string(name) + "-failed", message, name, "a line that succeeds in a shell: sh -c '" + line + "'"};
}

}  // namespace

bool is_of_around(const Error& error) { return error.code == "prepare-failed" || error.code == "cleanup-failed"; }

Result<ProcessOutcome> run_process(const ProcessRequest& request) {
  if (Status ready = run_line(request.around.prepare, "prepare", "before"); !ready) return ready.error();
  auto outcome = Run(request).execute();
  if (!outcome && outcome.error().kind == ErrorKind::kInterrupted) return outcome;
  if (Status cleaned = run_line(request.around.cleanup, "cleanup", "after"); outcome && !cleaned)
    return cleaned.error();
  return outcome;
}

}  // namespace perfcast
