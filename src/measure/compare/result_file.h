#pragma once
// Times of benchmarks as other tools write them down: hyperfine (--export-json, --export-csv), Google Benchmark
// (--benchmark_out, JSON), pytest-benchmark (--benchmark-json; single runs only with --benchmark-save-data), JMH (-rf
// json), and profiles of ours.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "machine/facts/host_facts.h"
#include "measure/compare/comparison.h"
#include "profile/profile.h"

namespace perfcast::measure {

// One kind of time of one benchmark.
struct TimedRuns {
  std::vector<double> runs_s;  // in the order of the runs, all above 0; empty where the file has no single runs
  // Where there are none: what the file says of them.
  double mean_s = 0, deviation_s = 0;
  int64_t count = 0;  // of runs that these are of

  bool is_known() const { return !runs_s.empty() || count > 0; }
  int64_t runs() const { return runs_s.empty() ? count : static_cast<int64_t>(runs_s.size()); }
};

struct BenchmarkRuns {
  std::string name;
  TimedRuns wall, cpu;  // cpu: user and system
  // CPUs that it keeps busy: CPU time over wall time, or its threads; absent where the file doesn't say.
  std::optional<double> busy_cpus = std::nullopt;
};

struct ResultFile {
  std::string tool, path;
  std::vector<BenchmarkRuns> benchmarks;  // in the file's order; names differ
  std::vector<std::string> notes;         // what was left out, and why
  HostFacts host = {};                    // as far as the file says where it is from
};

// Errors: "bad-json", "bad-json-field" (all mistakes at once), "unknown-format", "no-results", "file-too-large".
Result<ResultFile> parse_result_file(std::string_view text, const std::string& source);

// The native runs of a profile, by its medians and spreads; no benchmark where it has none.
ResultFile result_file_of(const Profile& profile, const std::string& source);

struct ComparedFile {
  ResultFile results;
  std::optional<Profile> profile;  // where the file is one
  // Of a comparison by perfcast (--json): those of its B, whose median times are the results. Empty: not counted.
  std::optional<WorkCounts> counts;
};
// Error "no-counts" for a comparison without them, where they are needed.
Result<ComparedFile> read_compared_file(const std::string& path, bool needs_counts = true);
// A regular file that begins as one of the formats does, or as gzip; or one with an extension that can't be run: no
// command.
bool is_compared_file(const std::string& path);

}  // namespace perfcast::measure
