#pragma once
// Runs tasks against each other, fairly: each in a process of its own with its own environment, in turns. A round is
// one turn for every task; a worker is stopped (SIGSTOP) while others have their turn, so that no thread of a library
// that spins in wait takes their time. Each task is checked before it is timed.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ai/gemm/run/task.h"

namespace perfcast::ai::gemm {

struct LadderEntry {
  TaskSpec spec;
  bool keep_all_rounds = false;  // peaks: as many rounds as anything has
  bool guess_first = false;      // ask estimate_s() before the first run
};

struct LadderOptions {
  std::vector<std::string> worker;  // command of a worker: argv; it speaks worker.h's protocol on its standard streams
  int rounds = 7;                   // samples of each task, where its budget allows
  double budget_s = 2;              // of timed runs per task
  double turn_s = 0.01;             // short calls are repeated until a turn takes this long
  double slow_limit_s = 60;         // a task whose one run would take longer is skipped
  std::function<void(const std::string&)> progress;
};

// One task as measured. Exactly one of `skipped` (a reason) and samples is there, but for wrong results, which have
// neither: their verdict says so.
struct Measurement {
  TaskSpec spec;
  std::string skipped;
  Verdict verdict;
  std::vector<double> samples_s;  // seconds of one call, one sample for each turn
  double timed_s = 0, cpu_s = 0;  // of all timed turns: by the clock, and that the worker's threads had a CPU
  double work = 0;                // of one call: operations, or bytes
  std::string kernel, note;

  bool ran() const { return skipped.empty() && verdict.correct && !samples_s.empty(); }
  double median_s() const;  // NaN where it did not run
  double low_s() const;     // fastest and slowest sample
  double high_s() const;
  double rate() const;       // work per second at the median
  double best_rate() const;  // at the fastest sample
  // Share of the time that a worker of one thread had a CPU: below 1, others wanted it too. NaN where unknown: more
  // threads, or work that is done outside the worker.
  double on_cpu() const;
  double spread() const;  // (third - first quartile) / median; NaN below two samples
};

struct LadderRun {
  std::vector<Measurement> measured;  // one for each entry, in their order
  // SIGINT, SIGTERM or SIGHUP ended it (interrupting_signal() tells which): samples up to then are there, tasks without
  // one are skipped as "interrupted", and no worker is left.
  std::optional<Error> interrupted;
};
// Errors: that no worker can be started at all.
Result<LadderRun> run_ladder(const std::vector<LadderEntry>& entries, const LadderOptions& options);

}  // namespace perfcast::ai::gemm
