#pragma once
// What threads that don't run wait for: each thread's state and system call (/proc/PID/task/TID/stat and syscall),
// looked at now and then while the program runs.

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perfcast::measure {

enum class ThreadState : uint8_t {
  kRunning,   // or ready to run
  kStorage,   // reading, writing or syncing a file
  kLock,      // a mutex that another thread holds
  kSignal,    // a condition, a barrier, a semaphore
  kJoin,      // the end of another thread
  kChild,     // the end of a process that it started
  kSleep,     // a time
  kPipe,      // another process, through a pipe
  kNetwork,   // a socket
  kPoll,      // any of several descriptors
  kTerminal,  // a person
  kPaging,    // memory that comes from storage, or the kernel's memory
  kOther,
};
inline constexpr size_t kThreadStates = 13;
std::string_view thread_state_text(ThreadState state);  // "a mutex that another thread holds"

struct ThreadTimes {
  std::array<double, kThreadStates> s{};  // seconds of all threads, by state
  double of(ThreadState state) const { return s[static_cast<size_t>(state)]; }
  double total() const;
};

// One thread in one state, from look to look.
struct ThreadStateSpan {
  pid_t process = 0, thread = 0;
  double start_s = 0, end_s = 0;  // since the start of the run
  ThreadState state = ThreadState::kOther;
  std::string_view call;  // name of the system call that it waits in; empty: not known, or none
};

class ThreadStates {
 public:
  // At `now_s` since the start these processes ran.
  void look(double now_s, const std::vector<pid_t>& processes);

  const ThreadTimes& all() const { return all_; }
  const ThreadTimes& first_thread() const {
    return first_;
  }  // of the program's first process; where that waits for what it started: of that
  int64_t looks() const { return looks_; }
  // Of all threads, each in the order of time; at most kMostSpans: of long runs the short ones belong to those before.
  std::vector<ThreadStateSpan> history() const;
  static constexpr size_t kMostSpans = 100'000;
  // Why system calls could not be read, where they could not; empty: they could.
  // Threads that end between two reads are no reason.
  std::string missing() const { return has_read_ ? "" : missing_; }

 private:
  void remember(const ThreadStateSpan& span);
  void drop_short_spans();

  ThreadTimes all_, first_;
  std::map<pid_t, std::vector<ThreadStateSpan>> spans_;  // by thread
  size_t spans_count_ = 0;
  double shortest_s_ = 0;  // that is kept
  bool is_full_ = false;
  double last_s_ = 0;
  int64_t looks_ = 0;
  pid_t first_process_ = 0;
  std::string missing_;
  bool has_read_ = false;
};

// From the texts of /proc/PID/task/TID/{stat,syscall}: `tasks` are the process's threads, `descriptor` names what an
// open descriptor is (the target of its link in /proc/PID/fd). Of x86-64 and AArch64.
struct ThreadTexts {
  std::string_view stat, syscall;
  const std::vector<pid_t>* tasks = nullptr;
};
ThreadState thread_state_of(const ThreadTexts& texts, std::string_view instruction_set,
                            const std::function<std::string(int64_t)>& descriptor);
// Name of the call of /proc/PID/task/TID/syscall, of those that wait; empty: another one, or none.
std::string_view waiting_call_name(std::string_view syscall_text, std::string_view instruction_set);

}  // namespace perfcast::measure
