#pragma once
// What is compared, and what came out.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/process/process.h"
#include "base/result.h"
#include "machine/facts/host_facts.h"
#include "profile/metrics/catalogue.h"

namespace perfcast::measure {

// What one run did.
struct WorkCounts {
  MetricValues counts;
  std::string partly;         // why not all was counted; empty: all was
  double repeats_within = 0;  // how far the counts of another run may differ: a log ratio, assumed; 0: nobody says
};

enum class ComparedTime { kWall, kCpu };

struct ComparedRun {
  int command = 0;     // 0: A, 1: B
  int64_t pair = 0;    // from 1; 0: a warm-up
  bool first = false;  // of its pair
  double wall_s = 0, cpu_s = 0;
  std::optional<double> peak_resident_bytes;
};

struct CompareRequest {
  std::array<std::vector<std::string>, 2> commands;   // argv; empty where `recorded` stands for it
  std::array<std::optional<WorkCounts>, 2> recorded;  // counts that were taken before; of compare_counts() alone
  ComparedTime time = ComparedTime::kWall;
  double budget_s = 60;            // for all runs, warm-ups and counted ones included
  double error_ratio = 0.05;       // of calling two different that are the same
  double threshold_ratio = 0;      // what slowdown counts: 0.02 is 2%
  double limit_s = 0;              // of one run; 0: none
  AroundRun around;                // of every run
  int warmups = 1;                 // runs of each before, which don't count
  int counted_runs = 2;            // of each under an instrumenter, for counts that need no statistics; 0: none
  std::vector<std::string> notes;  // for people, of the commands
  bool accept_failure = false;     // a run that fails counts too
  uint64_t seed = 1;               // of the order in pairs
  std::function<void(const std::string&)> progress;
  std::function<Status(const ComparedRun&)> record;  // each run as it ends; an error ends the comparison
};

// A counter of both, under an instrumenter.
struct CountRow {
  std::string metric;
  double a = 0, b = 0;        // means over the counted runs
  double ratio = 1;           // b / a
  double repeats_within = 0;  // largest |log ratio| of two runs of one command, or what was assumed
  bool differs = false;  // further apart than runs of one command, by far; never where nothing says how far those are
};

enum class CompareVerdict {
  kSlower,          // B, beyond the threshold
  kFaster,          // B
  kNoDifference,    // the interval lies within the threshold, where that is 0 within 1%
  kBelowThreshold,  // B is slower, by no more than the threshold
  kUnclear,         // none of these
};

// By an interval of the log ratio B / A, the first that holds: faster, slower, below the threshold, no difference.
CompareVerdict verdict_of(double log_lower, double log_upper, double threshold_ratio);

struct Comparison {
  CompareVerdict verdict = CompareVerdict::kUnclear;
  bool by_counts = false;  // times were not clear: the verdict is that of the instructions
  ComparedTime time = ComparedTime::kWall;
  double ratio = 1, lower = 0, upper = 0;  // B's time over A's; with 1 - error_ratio, over all looks
  double error_ratio = 0.05, threshold_ratio = 0;
  bool significant = false;  // the ratio isn't 1
  int64_t pairs = 0;         // timed
  int64_t runs = 0;          // of both commands: timed and not warming up, or counted where nothing was timed
  double spent_s = 0, budget_s = 0;
  std::array<double, 2> median_wall_s{}, median_cpu_s{};
  std::optional<double> first_over_second_ratio;  // how much slower a pair's first run was: what order does
  std::vector<CountRow> counts;                   // instructions first, then what differs most
  bool counts_differ = false;                     // instructions do
  bool counts_repeat = false;                     // all of the work was counted, more than once
  std::array<MetricValues, 2> all_counts;         // of work, by metric: all that were counted
  std::vector<std::string> notes;
  bool interrupted = false;
  HostFacts host = {};  // that the runs were made on
};

// What counts say where times don't: counted twice and repeating far closer than the threshold. Slower and faster:
// instructions beyond the threshold, which the times don't exclude. No difference: the same counts of all kinds, and
// times that lie within 5%, or 10% when no more are made. Unclear otherwise.
CompareVerdict verdict_by_counts(const Comparison& comparison, bool is_last);

std::string name_of(CompareVerdict verdict);  // "slower", ...

}  // namespace perfcast::measure
