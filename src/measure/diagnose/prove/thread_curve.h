#pragma once
// The same command with other numbers of threads: times, speed-up, and how much of the work is serial.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/process/process.h"
#include "base/result.h"
#include "measure/diagnose/find/thread_scaling.h"

namespace perfcast::measure {

struct ThreadCurveRequest {
  std::vector<std::string> command;  // {threads} in a word stands for the number; else the environment says it
  std::vector<int> threads;          // ascending, each once, above 0
  int cpus_count = 1;                // runs with more threads say nothing of serial work
  double budget_s = 30;
  double run_s = 0;      // how long the command takes, roughly
  double cpus_used = 1;  // on average, in that time
  double limit_s = 0;    // of one run; 0: none
  AroundRun around;      // of every run
  uint64_t seed = 1;
  std::function<void(const std::string&)> progress;
};

// Rounds in which each number of threads runs once, in drawn order, until the budget is used: at least two, at most
// nine; one where already that took longer than thought, and than the budget. Errors: "no-time" where two rounds don't
// fit, "program-failed", "limit-reached", run_process()'s.
Result<ThreadCurve> measure_thread_curve(const ThreadCurveRequest& request);

// "auto": 1, 2, 4, ... and the CPUs; or whole numbers from 1 to 1024, separated by commas. Error "bad-usage".
Result<std::vector<int>> parse_thread_counts(const std::string& text, int cpus);

}  // namespace perfcast::measure
