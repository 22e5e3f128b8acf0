#pragma once
// Programs run one after the other on this machine until enough is known of it.

#include <functional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "program/adapt/adapt_platform.h"

namespace perfcast::program {

struct HereStep {
  std::string program;
  double seconds_per_unit = 0, spread_ratio = 0;
  double cost_s = 0;          // by the clock
  double interval_ratio = 1;  // such an interval with it
};

struct HereOptions {
  // Typical 90% interval, upper over forecast, of the programs that may run and were not run: reached, nothing more is
  // run.
  double target_ratio = 1.1;
  double budget_s = 300;
  int repeats = 1;     // timed runs of a program
  size_t most = 1000;  // programs
  // Where heat and limits of the clocks are told (ThrottleWatch); empty: nobody looks.
  std::string cpu_root = {};
  // Told all steps so far after each, so that none is lost with what comes after it; an error ends it.
  std::function<Status(const std::vector<HereStep>&)> keep = {};
};

// A program timed some times in a row.
struct TimedHere {
  double seconds_per_unit = 0;  // CPU time of the fastest run
  double spread_ratio = 0;      // (slowest - fastest) / median
};
// An error other than "interrupted" says why the program can't be run: it is passed over.
using TimeHere = std::function<Result<TimedHere>(const std::string& program)>;

struct HereOutcome {
  std::vector<HereStep> steps;
  std::vector<std::string> passed_over;  // "program: why"
  double cost_s = 0;
  std::string stopped;     // "interval", "budget", "programs": what ended it
  double drift_ratio = 1;  // the first program timed again in the end, over its first time
  std::vector<std::string> notes;
};

// may_run: the programs of suites that can be run here. clock: seconds, for costs. Where runs drift or spread by more
// than a machine at rest does, or the kernel counted heat meanwhile, the outcome's notes say so. "nothing-to-run" where
// no program could be run; "short-budget" (at "budget_s"), "too-few-runs" where fewer than kFewestRuns were done, for
// nothing would tell a wrong one; "interrupted"; "bad-unit" as AdaptScenario::check_added().
Result<HereOutcome> adapt_here(AdaptScenario& scenario, const HereOptions& options,
                               const std::function<bool(const std::string&)>& may_run, const TimeHere& time,
                               const std::function<double()>& clock,
                               const std::function<void(const std::string&)>& progress);

// A program that no suite runs here.
struct LeftOutHere {
  std::string group;
  std::string why;  // and what mends it; empty: no suite has it at all
};
// In words, those with one reason together.
std::vector<std::string> left_out_in_words(const std::vector<LeftOutHere>& programs);

// A runs file, as parse_adapt_runs() takes it.
std::string runs_as_csv(const std::vector<HereStep>& steps);

Json here_as_json(const HereOutcome& outcome);

}  // namespace perfcast::program
