#include "base/process/run_course.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>

#include "base/file.h"
#include "base/process/process_tree.h"

namespace perfcast {
namespace {

// Tasks of a process that are asked how long they waited: a look must stay cheap.
constexpr size_t kTasksAsked = 64;

double cpu_of(pid_t process, double known_s) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return known_s;
  return std::max(known_s, static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec));
}

std::vector<pid_t> tasks_of(pid_t process) {
  std::vector<pid_t> tasks;
  DIR* folder = opendir(("/proc/" + std::to_string(process) + "/task").c_str());
  if (folder == nullptr) return tasks;
  while (const dirent* entry = readdir(folder)) {
    if (const long number = std::strtol(entry->d_name, nullptr, 10); number > 0) {
      tasks.push_back(static_cast<pid_t>(number));
    }
    if (tasks.size() == kTasksAsked) break;
  }
  closedir(folder);
  return tasks;
}

// Seconds that a task was ready and had no CPU.
double waited_of(pid_t process, pid_t task) {
  const auto text =
      read_file("/proc/" + std::to_string(process) + "/task/" + std::to_string(task) + "/schedstat", 4096);
  if (!text) return 0;
  const size_t at = text->find(' ');
  return at == std::string::npos ? 0 : 1e-9 * std::strtod(text->c_str() + at, nullptr);
}

void add(RunInterval& to, const RunInterval& more) {
  to.length_s += more.length_s;
  to.cpu_s += more.cpu_s;
  to.system_s += more.system_s;
  to.ready_s += more.ready_s;
  to.threads_s += more.threads_s;
  to.minor_faults += more.minor_faults;
  to.resident_bytes = more.resident_bytes;
}

}  // namespace

void RunCourse::look(double now_s, const std::vector<pid_t>& processes) {
  static const double ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  static const double page_bytes = static_cast<double>(sysconf(_SC_PAGESIZE));
  RunInterval seen;
  seen.length_s = now_s - last_s_;
  for (const pid_t process : processes) {
    const auto text = read_file("/proc/" + std::to_string(process) + "/stat", 4096);
    if (!text) continue;
    Process& known = known_[process];
    const double cpu_s = cpu_of(process, known.cpu_s);
    const double system_s = std::max(known.system_s, stat_number(*text, 15) / ticks_per_s);
    const double faults = std::max(known.minor_faults, stat_number(*text, 10));
    seen.cpu_s += cpu_s - known.cpu_s;
    seen.system_s += system_s - known.system_s;
    seen.minor_faults += faults - known.minor_faults;
    seen.threads_s += stat_number(*text, 20) * seen.length_s;
    seen.resident_bytes += stat_number(*text, 24) * page_bytes;
    known.cpu_s = cpu_s;
    known.system_s = system_s;
    known.minor_faults = faults;
    for (const pid_t task : tasks_of(process)) {
      Task& one = known.tasks[task];
      const double ready_s = waited_of(process, task);
      seen.ready_s += std::max(0.0, ready_s - one.ready_s);
      one.ready_s = std::max(one.ready_s, ready_s);
    }
  }
  last_s_ = now_s;
  if (!intervals_.empty() && intervals_.back().length_s + seen.length_s <= length_s_) {
    add(intervals_.back(), seen);
    return;
  }
  intervals_.push_back(seen);
  if (intervals_.size() < 2 * kMostIntervals) return;
  for (size_t i = 0; i < kMostIntervals; ++i) {
    RunInterval both = intervals_[2 * i];
    add(both, intervals_[2 * i + 1]);
    intervals_[i] = both;
  }
  intervals_.resize(kMostIntervals);
  length_s_ = 2 * std::max(length_s_, now_s / static_cast<double>(2 * kMostIntervals));
}

std::vector<RunInterval> RunCourse::finish(double wall_s, double cpu_s) const {
  if (intervals_.size() < 2) return {};
  std::vector<RunInterval> course;
  // As many looks to an interval that at most kMostIntervals remain.
  const double length_s = wall_s / static_cast<double>(kMostIntervals);
  for (const RunInterval& interval : intervals_) {
    const bool fits = !course.empty() && course.back().length_s + 0.5 * interval.length_s <= length_s;
    if (fits || course.size() == kMostIntervals) {
      add(course.back(), interval);
    } else {
      course.push_back(interval);
    }
  }
  double seen_s = 0;
  for (const RunInterval& interval : course) seen_s += interval.cpu_s;
  // The rest of the run after the last look.
  course.back().length_s += std::max(0.0, wall_s - last_s_);
  const double unseen_s = cpu_s - seen_s;
  if (unseen_s <= 0 || seen_s <= 0) return course;
  for (RunInterval& interval : course) interval.cpu_s *= cpu_s / seen_s;
  return course;
}

}  // namespace perfcast
