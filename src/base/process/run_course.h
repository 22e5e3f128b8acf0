#pragma once
// What a program's processes and threads did over the time of a run, looked at now and then from outside by /proc.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace perfcast {

// Of all processes and threads together.
struct RunInterval {
  double length_s = 0;
  double cpu_s = 0, system_s = 0;  // on a CPU; of it in the kernel (by ticks of 10 ms)
  double ready_s = 0;              // threads that waited for a CPU, summed
  double threads_s = 0;            // threads alive, times the time
  double minor_faults = 0;
  double resident_bytes = 0;  // at its end
};

class RunCourse {
 public:
  // At `now_s` since the start these processes ran.
  void look(double now_s, const std::vector<pid_t>& processes);
  // Of a run of this length and CPU time. What nobody saw (processes that came and went between two looks) is spread
  // over the intervals by their CPU time. At most kMostIntervals, in order; empty for a run too short for two looks.
  std::vector<RunInterval> finish(double wall_s, double cpu_s) const;

  static constexpr size_t kMostIntervals = 64;

 private:
  struct Task {
    double ready_s = 0;
  };
  struct Process {
    double cpu_s = 0, system_s = 0, minor_faults = 0;
    std::map<pid_t, Task> tasks;
  };

  std::map<pid_t, Process> known_;
  std::vector<RunInterval> intervals_;
  double last_s_ = 0;
  double length_s_ = 0;  // of intervals, growing; 0: each look ends one
};

}  // namespace perfcast
