#include "base/process/process_census.h"

#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/process/process_tree.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr size_t kArgumentsBytes = size_t{1} << 20;
constexpr size_t kStateBytes = 4096;
// Whoever does not end within this after the program did is not waited for.
constexpr auto kPatience = std::chrono::seconds(3);

std::string proc_path(pid_t task, const char* file) { return "/proc/" + std::to_string(task) + "/" + file; }

struct Usage {
  double cpu_s = 0, minor_faults_count = 0;
  Usage operator+(const Usage& other) const {
    return {cpu_s + other.cpu_s, minor_faults_count + other.minor_faults_count};
  }
  Usage operator-(const Usage& other) const {
    return {std::max(0.0, cpu_s - other.cpu_s), std::max(0.0, minor_faults_count - other.minor_faults_count)};
  }
};

// The number that text begins with; 0 where there is none.
double leading_number(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return static_cast<double>(number);
}

// Of one thread so far. CPU time by the scheduler's nanoseconds: the times of `stat` are whole ticks.
Usage usage_of(pid_t process, pid_t task) {
  const std::string folder = "task/" + std::to_string(task) + "/";
  Usage usage;
  if (const auto text = read_file(proc_path(process, (folder + "schedstat").c_str()), kStateBytes)) {
    usage.cpu_s = 1e-9 * leading_number(*text);
  }
  if (const auto text = read_file(proc_path(process, (folder + "stat").c_str()), kStateBytes)) {
    usage.minor_faults_count = stat_number(*text, 10);
  }
  return usage;
}

// A number of /proc/PID/status; -1 where it is not there.
pid_t status_field(pid_t task, const char* field) {
  const auto text = read_file(proc_path(task, "status"), kStateBytes);
  if (!text) return -1;
  const size_t at = text->find(field);
  if (at == std::string::npos) return -1;
  const std::string_view rest = trim(std::string_view(*text).substr(at + std::strlen(field)));
  pid_t number = -1;
  std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return number;
}

void read_program(pid_t process, CensusEntry& entry) {
  std::error_code problem;
  entry.program = std::filesystem::read_symlink(proc_path(process, "exe"), problem).string();
  const auto text = read_file(proc_path(process, "cmdline"), kArgumentsBytes);
  if (!text) return;
  entry.arguments = split(*text, '\0');
  if (!entry.arguments.empty() && entry.arguments.back().empty()) entry.arguments.pop_back();
}

// What the tracing thread knows. Only it touches this until it has ended.
class Tracer {
 public:
  Status seize(pid_t child);
  void follow();  // until nothing is left that is traced
  std::vector<CensusEntry> take() { return std::move(entries_); }

 private:
  struct Process {
    int entry = -1;    // of the program that it is now
    Usage exited;      // of threads that have ended
    Usage attributed;  // to programs that it was before
    int threads = 1;
  };

  void attribute(Process& process, const Usage& used);
  void handle(pid_t task, int stop);
  void on_announced(pid_t child, pid_t parent);
  void on_first_stop(pid_t child);
  void on_start(pid_t child, pid_t parent);
  void on_exec(pid_t process);
  void on_exit(pid_t task);
  void on_end(pid_t task);
  Process* process_of(pid_t task, pid_t& process);

  std::vector<CensusEntry> entries_;
  std::map<pid_t, Process> processes_;
  std::map<pid_t, pid_t> process_of_task_;
  // Tasks whose first stop came to us before their parent's word of them. On a busy machine such a child may even have
  // ended by then, and be a zombie that would be taken for a second child.
  std::set<pid_t> unannounced_;
};

Status Tracer::seize(pid_t child) {
  const long options =
      PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
  if (ptrace(PTRACE_SEIZE, child, nullptr, options) != 0) {
    return Error{"no-census", std::string("processes can't be traced here: ") + std::strerror(errno), "ptrace",
                 "a machine or container that permits ptrace"};
  }
  CensusEntry first;
  first.process = child;
  first.forked = true;
  entries_.push_back(first);
  processes_[child].entry = 0;
  // What it did before its exec is ours.
  processes_[child].attributed = usage_of(child, child);
  process_of_task_[child] = child;
  return {};
}

Tracer::Process* Tracer::process_of(pid_t task, pid_t& process) {
  const auto known = process_of_task_.find(task);
  process = known != process_of_task_.end() ? known->second : status_field(task, "\nTgid:");
  const auto found = processes_.find(process);
  return found == processes_.end() ? nullptr : &found->second;
}

// The parent says so, and stands still.
void Tracer::on_announced(pid_t child, pid_t parent) {
  if (unannounced_.erase(child) == 0) on_start(child, parent);
}

void Tracer::on_first_stop(pid_t child) {
  if (process_of_task_.contains(child)) return;
  unannounced_.insert(child);
  on_start(child, status_field(child, "\nPPid:"));
}

void Tracer::on_start(pid_t child, pid_t parent) {
  if (process_of_task_.contains(child)) return;
  const pid_t process = status_field(child, "\nTgid:");
  if (process < 0) return;
  process_of_task_[child] = process;
  if (process != child) {
    const auto owner = processes_.find(process);
    if (owner != processes_.end()) ++owner->second.threads;
    return;
  }
  const auto starter = processes_.find(parent);
  CensusEntry entry;
  entry.process = process;
  entry.forked = true;
  if (starter != processes_.end()) {
    entry.started_by = starter->second.entry;
    entry.program = entries_[static_cast<size_t>(entry.started_by)].program;
    entry.arguments = entries_[static_cast<size_t>(entry.started_by)].arguments;
  }
  Process& fresh = processes_[process];
  fresh = Process();
  fresh.entry = static_cast<int>(entries_.size());
  entries_.push_back(std::move(entry));
}

// What a process has used is its present program's but for what earlier ones had.
void Tracer::attribute(Process& process, const Usage& used) {
  CensusEntry& entry = entries_[static_cast<size_t>(process.entry)];
  const Usage own = used - process.attributed;
  entry.cpu_s = own.cpu_s;
  entry.minor_faults_count = own.minor_faults_count;
}

// Only the thread that executed is left, under the number of the process.
void Tracer::on_exec(pid_t process) {
  const auto found = processes_.find(process);
  if (found == processes_.end()) return;
  Process& state = found->second;
  const Usage used = state.exited + usage_of(process, process);
  const int before = state.entry;
  attribute(state, used);
  state.attributed = used;
  state.threads = 1;
  process_of_task_[process] = process;
  CensusEntry entry;
  entry.process = process;
  entry.started_by = before;
  read_program(process, entry);
  if (before == 0 && entries_[0].program.empty()) {
    entry.started_by = -1;  // the program itself: the copy of us before it is no part of the census
    entries_[0] = std::move(entry);
    return;
  }
  state.entry = static_cast<int>(entries_.size());
  entries_.push_back(std::move(entry));
}

void Tracer::on_exit(pid_t task) {
  pid_t process = -1;
  Process* state = process_of(task, process);
  process_of_task_.erase(task);
  if (state == nullptr) return;
  state->exited = state->exited + usage_of(process, task);
  attribute(*state, state->exited);
  if (--state->threads == 0) processes_.erase(process);
}

// A task that was killed while it stood at its exit, as threads are when another ends the process, has ended without
// being let go. Nobody but us can wait for it, and its process does not end before.
void Tracer::on_end(pid_t task) {
  if (process_of_task_.contains(task)) on_exit(task);
  if (status_field(task, "\nTgid:") == task && status_field(task, "\nPPid:") == getpid()) {
    // A child of ours is for whoever in this process waits for it.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return;
  }
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(task), &info, WEXITED | WNOHANG | __WALL | __WNOTHREAD);
}

void Tracer::handle(pid_t task, int stop) {
  const int event = stop >> 8, number = stop & 0x7f;
  unsigned long message = 0;
  switch (event) {
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE: {
      pid_t parent = -1;
      process_of(task, parent);
      if (ptrace(PTRACE_GETEVENTMSG, task, nullptr, &message) == 0) on_announced(static_cast<pid_t>(message), parent);
      break;
    }
    case PTRACE_EVENT_EXEC:
      on_exec(task);
      break;
    case PTRACE_EVENT_EXIT:
      on_exit(task);
      // Detached it ends as if nobody had traced it: its parent waits for it, not we.
      ptrace(PTRACE_DETACH, task, nullptr, nullptr);
      return;
    case PTRACE_EVENT_STOP:
      on_first_stop(task);
      if (number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU) {
        ptrace(PTRACE_LISTEN, task, nullptr, nullptr);
        return;
      }
      break;
    default:
      ptrace(PTRACE_CONT, task, nullptr, static_cast<unsigned long>(number));  // a signal on its way
      return;
  }
  ptrace(PTRACE_CONT, task, nullptr, nullptr);
}

void Tracer::follow() {
  while (true) {
    siginfo_t info{};
    // Of those that this thread traces. A stop is taken; an end is looked at first.
    if (waitid(P_ALL, 0, &info, WSTOPPED | WEXITED | WNOWAIT | __WALL | __WNOTHREAD) != 0) {
      if (errno == EINTR) continue;
      break;
    }
    const pid_t task = info.si_pid;
    if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) {
      on_end(task);
      continue;
    }
    info.si_pid = 0;
    const int taken = waitid(P_PID, static_cast<id_t>(task), &info, WSTOPPED | WNOHANG | __WALL | __WNOTHREAD);
    if (taken == 0 && info.si_pid == task) handle(task, info.si_status);
  }
  for (const auto& [process, state] : processes_) entries_[static_cast<size_t>(state.entry)].ended = false;
}

}  // namespace

// Shared with the thread, which outlives us where a process can't be ended.
struct ProcessCensus::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Status> began;
  bool ended = false;
  std::vector<CensusEntry> entries;
};

ProcessCensus::ProcessCensus() = default;

ProcessCensus::~ProcessCensus() {
  if (state_) end();
}

Status ProcessCensus::begin(pid_t child) {
  state_ = std::make_shared<State>();
  std::thread([state = state_, child] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);  // signals are for those who know what to do with them
    Tracer tracer;
    const Status began = tracer.seize(child);
    {
      const std::lock_guard lock(state->mutex);
      state->began = began;
    }
    state->changed.notify_all();
    if (began) tracer.follow();
    const std::lock_guard lock(state->mutex);
    state->entries = tracer.take();
    state->ended = true;
    state->changed.notify_all();
  }).detach();
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->began.has_value(); });
  Status began = *state_->began;
  lock.unlock();
  if (!began) state_.reset();
  return began;
}

std::vector<CensusEntry> ProcessCensus::end() {
  if (!state_) return {};
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, kPatience, [&] { return state_->ended; });
  std::vector<CensusEntry> entries = std::move(state_->entries);
  lock.unlock();
  state_.reset();
  return entries;
}

}  // namespace perfcast
