#pragma once
// The figures of a schedule's report, and what several of them share. All show the first seed, but for the bars.

#include <string>
#include <vector>

#include "base/figure/page.h"
#include "base/figure/svg_axes.h"
#include "fleet/compare/error_sweep.h"
#include "fleet/report/schedule_report.h"

namespace perfcast::fleet {

// Nodes as rows with jobs on them; where nodes or jobs are too many for that, the cores in use of each platform over
// time, and the caption says so.
Figure gantt_figure(const ScheduleReport& report);
Figure policy_bars_figure(const ScheduleReport& report);
Figure use_over_time_figure(const ScheduleReport& report);
Figure wait_figure(const ScheduleReport& report);
Figure error_sweep_figure(const ErrorSweep& sweep);

// First arrival to the last end under any policy; false where nothing ran.
struct Horizon {
  double from_s = 0, to_s = 0;
  bool any() const { return to_s > from_s; }
};
Horizon horizon_of(const ScheduleReport& report);

// The unit in which times of this size are read, for axes.
struct TimeUnit {
  double seconds;
  const char* name;  // "s", "min", "h", "days"
};
TimeUnit time_unit(double seconds);

// What is counted of a group: its GPUs where it has some and jobs ask for GPUs, otherwise its cores.
bool counts_gpus(const NodeGroup& group, const Workload& workload);
double held_of(const JobRequest& job, bool gpus);
double capacity_of(const NodeGroup& group, bool gpus);

// Jobs told apart by colour and pattern: by program, else by owner, where there are two or more. Eight kinds at most;
// the last is then all others together.
struct JobKinds {
  std::string by;                  // "program", "owner"; empty: all alike
  std::vector<std::string> names;  // of the kinds
  std::vector<size_t> of_job;
};
JobKinds kinds_of(const Workload& workload);
std::string kind_class(size_t kind);   // "s0 p0": colour and pattern
std::string kind_colour(size_t kind);  // "s0"
std::vector<LegendEntry> kind_legend(const JobKinds& kinds);

}  // namespace perfcast::fleet
