#pragma once
// The same system under rising load: so many clients at once, or so many requests per second, until it is saturated.
// A system is saturated where its throughput no longer grows with the number of clients, or where requests come faster
// than it answers and a queue grows.

#include <optional>
#include <string>
#include <vector>

#include "ai/bench/bench_run.h"
#include "ai/bench/saturation.h"
#include "base/json_fwd.h"
#include "base/report/table.h"
#include "base/result.h"

namespace perfcast::ai {

inline constexpr const char* kBenchSweepSchema = "perfcast.bench.sweep/1";

struct SweepRequest {
  bool by_rate = false;              // loads are requests per second; else clients
  std::vector<double> loads;         // rising
  std::vector<BenchRequest> points;  // of each load; with settings that keep when samples were due
  bool runs_all = false;             // loads behind saturation, too
  bool measures_overhead = false;    // of the client, at the highest throughput
  std::string log_folder;            // sweep.json there is written anew behind each point; empty: nowhere
};

struct SweepPoint {
  double load = 0;
  BenchReport report;  // without the times of single samples
  double answers_per_s = 0;
  std::optional<QueueTrend> queue;  // of rates
  std::string saturation;           // why it is saturated; empty: it isn't
};

struct BenchSweep {
  bool by_rate = false;
  std::vector<SweepPoint> points;   // that ran, in their order
  std::vector<double> left_out;     // loads that didn't run
  std::optional<size_t> saturated;  // the first such point
  std::optional<size_t> best;       // with the most answers per second
  std::optional<ClientOverhead> overhead;
  std::optional<Error> error;  // what ended it
  bool is_interrupted = false;
  std::string log_folder;

  std::string load_text(double load) const;  // "8 at once", "5/s"
  // Nothing is wrong with what was measured. Limits on times may be exceeded: that is what a sweep is there to show.
  bool is_sound() const;
};

// Errors of run_bench() where they come before any point; later they are the sweep's, which keeps what ran.
Result<BenchSweep> run_bench_sweep(const SweepRequest& request, SystemUnderTest& system);

ReportTable sweep_table(const BenchSweep& sweep);
// What it found, in a sentence: where it is saturated and why, or that it isn't.
std::string sweep_verdict(const BenchSweep& sweep);
Json to_json(const BenchSweep& sweep);  // perfcast.bench.sweep/1
// Latency against load, and throughput against load (HTML).
std::string sweep_page(const BenchSweep& sweep);

}  // namespace perfcast::ai
