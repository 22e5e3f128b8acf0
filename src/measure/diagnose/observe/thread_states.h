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

#include "profile/collect/native/cpu_sampler.h"

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

// A thread that waited in a system call at one place, from its first look to its last.
struct ThreadWait {
  pid_t process = 0, thread = 0;
  ThreadState state = ThreadState::kOther;
  std::string_view call;
  uint64_t object = 0;  // the call's first argument: a lock's address, a descriptor
  double s = 0;
  bool is_first_thread = false;
  uint64_t code = 0;            // of the user code that called
  std::vector<uint64_t> stack;  // words from the stack pointer on
};

// A thread at a look; it is taken to be so since the look before.
struct ThreadNow {
  pid_t process = 0, thread = 0;
  ThreadState state = ThreadState::kOther;
  double length_s = 0;
};

// Of another process' memory; false where not all of it can be read.
bool read_memory(pid_t process, uint64_t address, void* to, size_t bytes);

// One look at all threads; what they did is taken to be so since the look before.
struct ThreadsLook {
  double start_s = 0, end_s = 0;
  int32_t running = 0;    // threads that ran or could
  pid_t runner = 0;       // the one that did, where it was one
  bool is_first = false;  // the runner is the first thread of its process
  int32_t through = 0;    // of processes with several threads, those that waited for another's end or for a signal
  int32_t elsewhere = 0;  // of the same, those that waited for a lock, a file, a time
  int32_t threads = 0;    // of the same, all
  int32_t most_in_process = 0;  // threads of one process that ran or could
};

class ThreadStates {
 public:
  // At `now_s` since the start these processes ran.
  void look(double now_s, const std::vector<pid_t>& processes);

  const ThreadTimes& all() const { return all_; }
  const ThreadTimes& first_thread() const {
    return first_;
  }  // of the program's first process; where that waits for what it started: of that
  // Time in which nothing ran, by what was waited for.
  const ThreadTimes& idle() const { return idle_; }
  const std::vector<ThreadsLook>& course() const { return course_; }
  const std::vector<ThreadNow>& now() const { return now_; }  // of the last look
  const std::vector<ThreadWait>& waits() const { return waits_; }
  // Code of the processes that waited.
  const std::map<pid_t, CodeMappings>& mappings() const { return mappings_; }
  static constexpr size_t kMostWaits = 20'000;
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

  struct OpenWait {
    std::string syscall;
    size_t index = 0;
  };
  void remember_wait(const ThreadWait& wait, const std::string& syscall, double now_s);

  ThreadTimes all_, first_, idle_;
  std::vector<ThreadsLook> course_;
  std::vector<ThreadNow> now_;
  std::vector<ThreadWait> waits_;
  std::map<pid_t, OpenWait> open_waits_;  // by thread
  std::map<pid_t, CodeMappings> mappings_;
  std::map<pid_t, double> mapped_s_;                     // when they were read last
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
