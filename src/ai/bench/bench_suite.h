#pragma once
// The same system in several scenarios, one after the other, with one verdict.

#include <optional>
#include <string>
#include <vector>

#include "ai/bench/bench_run.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast::ai {

inline constexpr const char* kBenchSuiteSchema = "perfcast.bench.all/1";

// All scenarios in the order of a suite: what the first ones measured says how much to ask of the last ones.
std::vector<LoadScenario> suite_scenarios();

struct BenchSuiteRequest {
  std::vector<BenchRequest> runs;  // of each scenario, in that order
  // Else offline's query is sized by what a query of several samples reached, larger where that was too little, up to
  // three times, and a server gets half of the highest rate that was reached. Each report says how often it was tried
  // and what its rate follows from; in the log is the last try.
  bool rates_are_given = true;
};

struct BenchSuite {
  std::vector<BenchReport> reports;  // of the runs that were begun
  bool rates_were_given = true;
  // What ended it before all scenarios had run; reports are of those that had.
  std::optional<Error> error;
  bool valid() const;
  // Every run is sound and keeps its objectives; it may be too short to be compared.
  bool succeeds() const;
  bool breaks(std::string_view rule) const;  // any of them
};

// Errors of run_bench() where they come before any report; later they are the suite's, which keeps what ran. An
// interrupt ends it behind the run that it interrupted.
Result<BenchSuite> run_bench_suite(BenchSuiteRequest request, SystemUnderTest& system);

Json to_json(const BenchSuite& suite);  // perfcast.bench.all/1

}  // namespace perfcast::ai
