#include "measure/diagnose/observe/thread_states.h"

#include <dirent.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>

#include "base/file.h"
#include "base/process/program_inspector.h"
#include "base/text.h"
#include "measure/diagnose/observe/mapped_files.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostTasks = 128;  // of a process: a look must stay cheap
constexpr std::array<std::string_view, kThreadStates> kTexts = {"running, or ready to run",
                                                                "files: reading, writing, syncing",
                                                                "a mutex that another thread holds",
                                                                "a condition, barrier or semaphore",
                                                                "the end of another thread",
                                                                "the end of a process that it started",
                                                                "a time to pass",
                                                                "another process, through a pipe",
                                                                "a socket",
                                                                "any of several descriptors",
                                                                "a terminal",
                                                                "memory that comes from storage",
                                                                "something else"};

enum class Call : uint8_t { kFutex, kSleep, kWaitChild, kPoll, kFile, kSync, kSocket };

struct WaitingCall {
  Call call;
  std::string_view name;
};

// System calls that wait, by their numbers.
const std::map<int64_t, WaitingCall>& calls_of(std::string_view instruction_set) {
  using enum Call;
  static const std::map<int64_t, WaitingCall> x86 = {{0, {kFile, "read"}},
                                                     {1, {kFile, "write"}},
                                                     {7, {kPoll, "poll"}},
                                                     {17, {kFile, "pread64"}},
                                                     {18, {kFile, "pwrite64"}},
                                                     {19, {kFile, "readv"}},
                                                     {20, {kFile, "writev"}},
                                                     {23, {kPoll, "select"}},
                                                     {26, {kSync, "msync"}},
                                                     {34, {kPoll, "pause"}},
                                                     {35, {kSleep, "nanosleep"}},
                                                     {40, {kFile, "sendfile"}},
                                                     {42, {kSocket, "connect"}},
                                                     {43, {kSocket, "accept"}},
                                                     {44, {kSocket, "sendto"}},
                                                     {45, {kSocket, "recvfrom"}},
                                                     {46, {kSocket, "sendmsg"}},
                                                     {47, {kSocket, "recvmsg"}},
                                                     {61, {kWaitChild, "wait4"}},
                                                     {74, {kSync, "fsync"}},
                                                     {75, {kSync, "fdatasync"}},
                                                     {128, {kPoll, "rt_sigtimedwait"}},
                                                     {130, {kPoll, "rt_sigsuspend"}},
                                                     {162, {kSync, "sync"}},
                                                     {202, {kFutex, "futex"}},
                                                     {230, {kSleep, "clock_nanosleep"}},
                                                     {232, {kPoll, "epoll_wait"}},
                                                     {247, {kWaitChild, "waitid"}},
                                                     {270, {kPoll, "pselect6"}},
                                                     {271, {kPoll, "ppoll"}},
                                                     {277, {kSync, "sync_file_range"}},
                                                     {281, {kPoll, "epoll_pwait"}},
                                                     {288, {kSocket, "accept4"}},
                                                     {295, {kFile, "preadv"}},
                                                     {296, {kFile, "pwritev"}},
                                                     {306, {kSync, "syncfs"}},
                                                     {441, {kPoll, "epoll_pwait2"}},
                                                     {449, {kFutex, "futex_waitv"}}};
  static const std::map<int64_t, WaitingCall> arm = {
      {22, {kPoll, "epoll_pwait"}},    {63, {kFile, "read"}},
      {64, {kFile, "write"}},          {65, {kFile, "readv"}},
      {66, {kFile, "writev"}},         {67, {kFile, "pread64"}},
      {68, {kFile, "pwrite64"}},       {69, {kFile, "preadv"}},
      {70, {kFile, "pwritev"}},        {71, {kFile, "sendfile"}},
      {72, {kPoll, "pselect6"}},       {73, {kPoll, "ppoll"}},
      {81, {kSync, "sync"}},           {82, {kSync, "fsync"}},
      {83, {kSync, "fdatasync"}},      {84, {kSync, "sync_file_range"}},
      {95, {kWaitChild, "waitid"}},    {98, {kFutex, "futex"}},
      {101, {kSleep, "nanosleep"}},    {115, {kSleep, "clock_nanosleep"}},
      {133, {kPoll, "rt_sigsuspend"}}, {137, {kPoll, "rt_sigtimedwait"}},
      {202, {kSocket, "accept"}},      {203, {kSocket, "connect"}},
      {206, {kSocket, "sendto"}},      {207, {kSocket, "recvfrom"}},
      {211, {kSocket, "sendmsg"}},     {212, {kSocket, "recvmsg"}},
      {227, {kSync, "msync"}},         {242, {kSocket, "accept4"}},
      {260, {kWaitChild, "wait4"}},    {267, {kSync, "syncfs"}},
      {441, {kPoll, "epoll_pwait2"}},  {449, {kFutex, "futex_waitv"}}};
  return instruction_set == "aarch64" ? arm : x86;
}

// "NR 0xARG ..." of a thread that waits in a call; nothing of one that runs, or waits elsewhere.
struct CallText {
  int64_t number = -1;
  std::array<uint64_t, 6> arguments{};
};
std::optional<CallText> call_of(std::string_view text) {
  std::string copy(text);
  const char* at = copy.c_str();
  char* end = nullptr;
  CallText call;
  call.number = std::strtol(at, &end, 10);
  if (end == at || call.number < 0) return std::nullopt;
  for (uint64_t& argument : call.arguments) {
    at = end;
    argument = std::strtoull(at, &end, 16);
    if (end == at) return std::nullopt;
  }
  return call;
}

ThreadState of_futex(const CallText& call, const std::vector<pid_t>* tasks) {
  constexpr uint64_t kCommand = 0x7F, kPrivate = 0x80, kWait = 0, kLockPi = 6;
  const uint64_t command = call.arguments[1] & kCommand, value = call.arguments[2] & 0xFFFFFFFF;
  // glibc waits for a thread's end on its number, which the kernel clears and wakes for, shared (not private).
  if ((call.arguments[1] & kPrivate) == 0 && tasks != nullptr &&
      std::find(tasks->begin(), tasks->end(), static_cast<pid_t>(value)) != tasks->end())
    return ThreadState::kJoin;
  // Its mutexes say 2 where somebody waits.
  if (command == kLockPi || (command == kWait && value == 2)) return ThreadState::kLock;
  return ThreadState::kSignal;
}

ThreadState of_descriptor(const std::string& target) {
  if (target.starts_with("pipe:")) return ThreadState::kPipe;
  if (target.starts_with("socket:")) return ThreadState::kNetwork;
  if (target.starts_with("/dev/tty") || target.starts_with("/dev/pts/")) return ThreadState::kTerminal;
  if (target.starts_with("anon_inode:")) return ThreadState::kPoll;
  return target.starts_with('/') ? ThreadState::kStorage : ThreadState::kOther;
}

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> tasks;
  DIR* folder = opendir(("/proc/" + std::to_string(process) + "/task").c_str());
  if (folder == nullptr) return tasks;
  while (const dirent* entry = readdir(folder)) {
    if (const long number = std::strtol(entry->d_name, nullptr, 10); number > 0)
      tasks.push_back(static_cast<pid_t>(number));
    if (tasks.size() == kMostTasks) break;
  }
  closedir(folder);
  return tasks;
}

std::string link_target(const std::string& path) {
  std::array<char, 256> target{};
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  return size > 0 ? std::string(target.data(), static_cast<size_t>(size)) : std::string();
}

}  // namespace

std::string_view thread_state_text(ThreadState state) { return kTexts.at(static_cast<size_t>(state)); }

double ThreadTimes::total() const { return std::accumulate(s.begin(), s.end(), 0.0); }

ThreadState thread_state_of(const ThreadTexts& texts, std::string_view instruction_set,
                            const std::function<std::string(int64_t)>& descriptor) {
  // "PID (NAME) STATE ...", and a name may hold anything.
  const size_t name_end = texts.stat.rfind(") ");
  const char state =
      name_end == std::string_view::npos || name_end + 2 >= texts.stat.size() ? '?' : texts.stat[name_end + 2];
  if (state == 'R' || state == 'Z' || state == 'X') return ThreadState::kRunning;
  const auto call = call_of(texts.syscall);
  if (call) {
    const auto& calls = calls_of(instruction_set);
    if (const auto known = calls.find(call->number); known != calls.end()) {
      switch (known->second.call) {
        case Call::kFutex:
          return of_futex(*call, texts.tasks);
        case Call::kSleep:
          return ThreadState::kSleep;
        case Call::kWaitChild:
          return ThreadState::kChild;
        case Call::kPoll:
          return ThreadState::kPoll;
        case Call::kFile:
          return of_descriptor(descriptor(static_cast<int64_t>(call->arguments[0])));
        case Call::kSync:
          return ThreadState::kStorage;
        case Call::kSocket:
          return ThreadState::kNetwork;
      }
    }
    return state == 'D' ? ThreadState::kStorage : ThreadState::kOther;
  }
  // "-1" says that it waits outside of any call; without the text nobody knows.
  return state == 'D' && texts.syscall.starts_with("-1") ? ThreadState::kPaging : ThreadState::kOther;
}

std::string_view waiting_call_name(std::string_view syscall_text, std::string_view instruction_set) {
  const auto call = call_of(syscall_text);
  if (!call) return "";
  const auto& calls = calls_of(instruction_set);
  const auto known = calls.find(call->number);
  return known == calls.end() ? std::string_view() : known->second.name;
}

std::vector<ThreadStateSpan> ThreadStates::history() const {
  std::vector<ThreadStateSpan> all;
  all.reserve(spans_count_);
  for (const auto& [thread, spans] : spans_) all.insert(all.end(), spans.begin(), spans.end());
  return all;
}

void ThreadStates::remember(const ThreadStateSpan& span) {
  const auto known = spans_.find(span.thread);
  if (known != spans_.end() && !known->second.empty()) {
    ThreadStateSpan& last = known->second.back();
    const bool follows = last.process == span.process && last.end_s == span.start_s;
    const bool is_alike = last.state == span.state && last.call == span.call;
    // A short one that nothing came of in time goes on as the one before it.
    if (follows && (is_alike || span.end_s - last.start_s < shortest_s_)) {
      last.end_s = span.end_s;
      return;
    }
  }
  if (spans_count_ >= kMostSpans && !is_full_) drop_short_spans();
  if (spans_count_ >= kMostSpans) return;
  spans_[span.thread].push_back(span);
  ++spans_count_;
}

void ThreadStates::drop_short_spans() {
  shortest_s_ = std::max(2 * shortest_s_, last_s_ / 1000);
  spans_count_ = 0;
  for (auto& [thread, spans] : spans_) {
    std::vector<ThreadStateSpan> kept;
    for (const ThreadStateSpan& span : spans) {
      const bool follows = !kept.empty() && kept.back().process == span.process && kept.back().end_s == span.start_s;
      if (follows && span.end_s - span.start_s < shortest_s_) {
        kept.back().end_s = span.end_s;
      } else {
        kept.push_back(span);
      }
    }
    spans = std::move(kept);
    spans_count_ += spans.size();
  }
  // Of many threads there is nothing short to drop: what follows is not kept, rather than all that was.
  is_full_ = spans_count_ > kMostSpans - kMostSpans / 10;
}

bool read_memory(pid_t process, uint64_t address, void* to, size_t bytes) {
  iovec here{to, bytes}, there{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(process, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

namespace {

// Words of another process' memory, up to where it ends.
std::vector<uint64_t> words_of(pid_t process, uint64_t address, size_t bytes) {
  constexpr uint64_t kPage = 4096;
  std::vector<uint64_t> words(bytes / sizeof(uint64_t));
  iovec here{words.data(), bytes};
  // A piece is read as a whole or not at all.
  std::array<iovec, 4> there{};
  size_t pieces = 0;
  for (uint64_t at = address; at < address + bytes && pieces < there.size(); ++pieces) {
    const uint64_t end = std::min(address + bytes, (at / kPage + 1) * kPage);
    there.at(pieces) = {reinterpret_cast<void*>(at), end - at};
    at = end;
  }
  const ssize_t got = process_vm_readv(process, &here, 1, there.data(), pieces, 0);
  words.resize(got > 0 ? static_cast<size_t>(got) / sizeof(uint64_t) : 0);
  return words;
}

}  // namespace

void ThreadStates::remember_wait(const ThreadWait& wait, const std::string& syscall, double now_s) {
  constexpr size_t kStackBytes = 4096;
  constexpr double kMapsApart_s = 0.5;
  // The same call at the same place is the same wait, or one of a loop.
  const auto open = open_waits_.find(wait.thread);
  if (open != open_waits_.end() && open->second.syscall == syscall) {
    waits_[open->second.index].s += wait.s;
    return;
  }
  if (waits_.size() == kMostWaits) return;
  ThreadWait added = wait;
  // "NR ARG1 ... ARG6 SP PC"
  const std::vector<std::string> words = split(trim(syscall), ' ');
  if (words.size() == 9) {
    added.object = std::strtoull(words[1].c_str(), nullptr, 16);
    added.code = std::strtoull(words[8].c_str(), nullptr, 16);
    added.stack = words_of(wait.process, std::strtoull(words[7].c_str(), nullptr, 16) & ~uint64_t{7}, kStackBytes);
    if (const auto at = mapped_s_.find(wait.process); at == mapped_s_.end() || now_s - at->second > kMapsApart_s) {
      mapped_s_[wait.process] = now_s;
      const auto maps = read_file("/proc/" + std::to_string(wait.process) + "/maps", size_t{1} << 22);
      if (maps) mappings_[wait.process] = executable_mappings(*maps);
    }
  }
  open_waits_[wait.thread] = {syscall, waits_.size()};
  waits_.push_back(std::move(added));
}

void ThreadStates::look(double now_s, const std::vector<pid_t>& processes) {
  const double began_s = last_s_, length_s = std::max(0.0, now_s - last_s_);
  last_s_ = now_s;
  ++looks_;
  static const std::string instruction_set = host_instruction_set();
  // The program's own process is the last one that run_process() names.
  if (first_process_ == 0 && !processes.empty()) first_process_ = processes.back();
  now_.clear();
  ThreadsLook together;
  together.start_s = began_s;
  together.end_s = now_s;
  std::array<bool, kThreadStates> present{};
  ThreadState first = ThreadState::kOther;
  std::optional<ThreadState> started;  // of what its first process started: running, or what one of them waits for
  for (const pid_t process : processes) {
    const std::string folder = "/proc/" + std::to_string(process);
    const std::vector<pid_t> tasks = threads_of(process);
    int32_t running = 0;
    for (const pid_t task : tasks) {
      const std::string of_task = folder + "/task/" + std::to_string(task);
      const auto stat = read_file(of_task + "/stat", 4096);
      if (!stat) continue;
      const auto syscall = read_file(of_task + "/syscall", 4096);
      if (syscall) {
        has_read_ = true;
      } else if (missing_.empty()) {
        missing_ = syscall.error().message;
      }
      const ThreadState state =
          thread_state_of({*stat, syscall ? std::string_view(*syscall) : std::string_view(), &tasks}, instruction_set,
                          [&](int64_t number) { return link_target(folder + "/fd/" + std::to_string(number)); });
      all_.s[static_cast<size_t>(state)] += length_s;
      present.at(static_cast<size_t>(state)) = true;
      now_.push_back({process, task, state, length_s});
      if (state == ThreadState::kRunning) {
        together.runner = ++together.running == 1 ? task : 0;
        together.most_in_process = std::max(together.most_in_process, ++running);
        together.is_first = task == process;
      }
      if (tasks.size() > 1) {
        ++together.threads;
        const bool is_through = state == ThreadState::kSignal || state == ThreadState::kJoin;
        together.through += is_through ? 1 : 0;
        together.elsewhere += !is_through && state != ThreadState::kRunning ? 1 : 0;
      }
      const bool waits = state != ThreadState::kRunning && syscall.ok();
      remember({process, task, began_s, now_s, state,
                waits ? waiting_call_name(*syscall, instruction_set) : std::string_view()});
      if (waits) {
        ThreadWait wait{process, task, state, waiting_call_name(*syscall, instruction_set), 0, length_s, false, 0, {}};
        wait.is_first_thread = task == process && process == first_process_;
        remember_wait(wait, *syscall, now_s);
      }
      if (task != process) continue;
      if (process == first_process_) first = state;
      const bool waits_itself = state == ThreadState::kChild;
      if (process != first_process_ && !waits_itself && (!started || state == ThreadState::kRunning)) started = state;
    }
  }
  // Who waits for what it started waits for what that waits for.
  if (first == ThreadState::kChild && started) first = *started;
  first_.s[static_cast<size_t>(first)] += length_s;
  if (course_.size() < kMostSpans) course_.push_back(together);
  if (together.running > 0) return;
  // What others wait for the end of is what they do.
  using enum ThreadState;
  for (const ThreadState of :
       {kStorage, kPaging, kNetwork, kSleep, kPipe, kPoll, kTerminal, kLock, kSignal, kOther, kChild, kJoin}) {
    if (!present.at(static_cast<size_t>(of))) continue;
    idle_.s[static_cast<size_t>(of)] += length_s;
    break;
  }
}

}  // namespace perfcast::measure
