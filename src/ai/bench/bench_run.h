#pragma once
// A benchmark of a system under test: warm-up, accuracy, performance or the search of its peak, joules beside it, the
// verdict; everything on disk as it comes.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ai/load/load_collector.h"
#include "ai/load/load_objective.h"
#include "ai/load/load_result.h"
#include "ai/load/load_summary.h"
#include "ai/load/load_verdict.h"
#include "ai/load/system_under_test.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "machine/meter/energy_session.h"
#include "machine/meter/meter.h"

namespace perfcast::ai {

inline constexpr const char* kBenchSchema = "perfcast.bench/1";
// Below it no published result of the field counts.
inline constexpr double kComparableDuration_s = 600;

struct BenchRequest {
  LoadSettings settings;  // `mode` is set by the two below
  bool accuracy = false, performance = true;
  LoadRules rules;                            // `accuracy` where it is known from elsewhere
  std::string benchmark, category, division;  // that the rules are of; empty: one's own
  // Beyond what the run itself shows: why it can't be set beside published results (ai/rules/field_demand.h).
  std::vector<std::string> not_comparable;
  std::vector<LoadObjective> objectives;
  int64_t warm_up_queries = 0;
  bool find_peak = false;  // server: the rate in `settings` is the first that is tried
  double peak_precision = 0.02;
  int most_trials = 30;
  std::string log_folder;          // empty: nothing is written
  bool measures_overhead = false;  // of this client, behind the run
  // The system is an endpoint without work, whose answers have so many pieces, so far apart: what comes on top is the
  // client's overhead.
  struct PlannedAnswers {
    int64_t pieces = 0;
    double gap_s = 0;
  };
  std::optional<PlannedAnswers> null_endpoint;
  // For the report alone. Of a suite: runs that this is the last of, those before it having been too short; what the
  // rate follows from, in words, empty: it was asked for.
  int attempts = 1;
  std::string rate_source;
  // Of an answer's data; absent: the system says itself, or nobody.
  std::function<std::optional<bool>(uint32_t index, std::string_view data)> judge;
  const MeterSet* meters = nullptr;
  // What runs, and how far it is.
  std::function<void(const std::string& what, const LoadProgress&)> progress;
  std::function<bool()> is_interrupted;
};

struct PeakTrial {
  double target_qps = 0, completed_per_s = 0;
  int64_t queries = 0, latency_p99_ns = 0;
  bool valid = false;
  std::vector<std::string> broken_rules;
};

struct BenchEnergy {
  EnergyReport report;
  std::vector<MissingMeter> missing;
  // Of the widest scope whose meters all have joules: server, board, CPU packages, GPUs; of a system that
  // runs on CPUs alone, none of a GPU.
  std::optional<double> joules;
  std::string covers;  // of those
};

// What this client adds to the times that it measures, at some load (client_overhead.h).
struct ClientOverhead {
  double rate_per_s = 0;  // requests
  int64_t pieces = 0;     // of each answer, so far apart
  double gap_s = 0;
  bool is_lighter = false;              // than the run's load: no upper bound then
  LatencySummary first_token, latency;  // beyond what the endpoint takes by design
};

struct BenchReport {
  LoadResult result;  // of the performance run, or of the accuracy run where that is all; of a search, its best
  LoadSummary summary;
  LoadRules rules;  // with the accuracy that was measured
  LoadVerdict verdict;
  std::vector<ObjectiveOutcome> objectives;
  std::string benchmark, category, division;
  int64_t judged = 0, right = 0;  // of the accuracy run
  std::vector<PeakTrial> trials;
  std::optional<double> peak_qps, peak_bound_qps;  // highest valid rate, lowest invalid one
  bool search_is_interrupted = false;              // in its last trial, which is then neither of them
  bool search_is_too_short = false;  // it ended at a trial that may not have the queries to be sure of its percentile
  std::optional<BenchEnergy> energy;
  std::optional<ClientOverhead> overhead;
  std::string log_folder;
  int64_t samples_left_out = 0;  // of samples.csv
  int attempts = 1;              // as the request has them
  std::string rate_source;
  // Why this can't be set beside published results; empty: nothing stands against it.
  std::vector<std::string> not_comparable;

  bool is_sound() const { return verdict.is_sound(); }
  bool misses_objectives() const;
  // `not_comparable`, and of a sound run which of the field's rules it breaks.
  std::vector<std::string> why_not_comparable() const;
};

// Errors: those of check() and of the system's start, "system-broke" where it breaks in the warm-up, "log-failed"
// before anything ran. What happens later is in the report's verdict.
Result<BenchReport> run_bench(const BenchRequest& request, SystemUnderTest& system);

Json to_json(const BenchReport& report);  // perfcast.bench/1
Json overhead_json(const ClientOverhead& overhead);
// "client adds" in a line: what, at which load.
std::string overhead_text(const ClientOverhead& overhead);

}  // namespace perfcast::ai
