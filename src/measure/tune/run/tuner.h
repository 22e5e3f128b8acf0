#pragma once
// Runs settings of a command until the budget ends, then the best against the default in turns.

#include <functional>
#include <string>
#include <vector>

#include "base/process/process.h"
#include "base/result.h"
#include "measure/tune/run/trial_log.h"
#include "measure/tune/run/tuning.h"

namespace perfcast::measure {

struct TuneRequest {
  const TuneFile* file = nullptr;
  std::vector<std::string> command;
  std::string source;
  StrategyKind strategy = StrategyKind::kSurrogate;
  double budget_s = 300;  // of everything, a quarter for the last comparison; no run is begun after it
  size_t trials = 0;      // settings tried at most, the default among them; 0: as the budget allows
  int repeats = 3;        // runs of a setting before it counts as the best
  AroundRun around;       // of every run of the command; {name} in it stands for a knob's value
  double limit_s = 0;     // of one run; 0: ten times the default's, 10 s at the least
  uint64_t seed = 1;
  std::vector<LoggedRun> resumed;  // count as trials of this tuning
  std::vector<LoggedRun> earlier;  // of other times: hints, not measurements
  std::function<void(const std::string&)> progress;
  std::function<Status(const LoggedRun&)> record;  // each run as it ends
  std::function<Status(const std::string&)> save;  // of record_space(): the CSV after each round, and when interrupted
};

// Errors: "default-failed" where the default setting doesn't run, "interrupted" before anything but it was tried, what
// `record` says, those of TrialRunner. Later an interrupt ends it with what there is.
Result<Tuning> tune(const TuneRequest& request);

// Every allowed setting, `repeats` times in rounds, each round in an order of its own; -> CSV as parse_recorded_space()
// reads it, the default first, medians as times. Error "large-space" where there are more than kMostListedPoints. What
// is maximised can't be recorded: time_s is a cost; a printed number that is minimised stands there as it is.
struct RecordedRounds {
  std::string csv;
  size_t points = 0, invalid = 0, rounds = 0;
  double spent_s = 0;
  bool interrupted = false;  // settings that had no run yet are left out
};
Result<RecordedRounds> record_space(const TuneRequest& request);

}  // namespace perfcast::measure
