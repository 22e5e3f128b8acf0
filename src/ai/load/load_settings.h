#pragma once
// What a load generator is asked for: the scenario, how much, how fast, in what order.
//
// Scenarios as the field has them (Reddi et al., MLPerf Inference Benchmark, ISCA 2020):
//   single stream  a query of one sample; the next one when it was answered
//   multi stream   a query of several samples; the next one when all were answered
//   server         queries of one sample arrive at random (Poisson), whether the last ones were answered or not
//   offline        one query of everything
// and as clients of services have them:
//   concurrency    so many clients, each of which waits for its answer before it asks again
//   trace          queries at planned times, some of them so long after the answer to another one

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast::ai {

enum class LoadScenario { kSingleStream, kMultiStream, kServer, kOffline, kConcurrency, kTrace };
std::string to_string(LoadScenario scenario);   // "single-stream", "multi-stream", "server", "offline", ...
std::string field_name(LoadScenario scenario);  // as the field's logs write it: "SingleStream", ...
std::optional<LoadScenario> scenario_named(std::string_view name);  // one of the field's
// Whether queries have times of their own, whatever becomes of those before.
inline bool is_timed(LoadScenario scenario) {
  return scenario == LoadScenario::kServer || scenario == LoadScenario::kTrace;
}

enum class LoadMode { kPerformance, kAccuracy };  // accuracy: every sample of the data set once, its answer is kept
std::string field_name(LoadMode mode);            // "PerformanceOnly", "AccuracyOnly"

// Of std::mt19937. The defaults are those that the field's rules publish.
struct LoadSeeds {
  uint64_t data_set = 2085463073848966840u;  // which samples are loaded, in what order
  uint64_t sample_order = 2747215439041700203u;
  uint64_t schedule = 16159082839903944936u;
  bool operator==(const LoadSeeds&) const = default;
};
// Three seeds from one.
LoadSeeds seeds_from(uint64_t seed);

// Queries of one sample each: the i-th is of sample i.
struct PlannedQuery {
  double at_s = 0;     // since the start; with `after`, since the end of that query
  int32_t after = -1;  // an earlier one of the same conversation; where it fails, this one is not issued; -1: none
};
using LoadPlan = std::vector<PlannedQuery>;  // those without `after` by time

// The most samples that one run may issue: their times are kept in memory.
inline constexpr int64_t kMostLoadSamples = 100'000'000;
// The most samples of one query, and of all queries that are unanswered at once.
inline constexpr int64_t kMostOutstandingSamples = int64_t{1} << 24;

struct LoadSettings {
  LoadScenario scenario = LoadScenario::kSingleStream;
  LoadMode mode = LoadMode::kPerformance;
  int64_t total_samples = 1024;   // of the data set: accuracy mode
  int64_t loaded_samples = 1024;  // that performance mode draws from
  // kServer: arrivals per second. kOffline: what is expected, which says how many samples the query needs.
  double target_qps = 1;
  double min_duration_s = 10;
  double max_duration_s = 0;      // no query begins, of a server is due, later; 0: none
  int64_t min_queries = 1;        // kOffline: samples
  int64_t max_queries = 0;        // 0: none
  int64_t samples_per_query = 8;  // kMultiStream
  // Every loaded sample as often as every other, in permutations: for data whose samples differ in work.
  bool equal_issue = false;
  LoadSeeds seeds;
  int64_t concurrency = 1;  // kConcurrency: clients
  // kTrace: the queries. kConcurrency: conversations, which clients take one after the other, from the first again
  // where it is not enough; null: queries are drawn from the loaded samples.
  std::shared_ptr<const LoadPlan> plan;
  int64_t max_outstanding =
      int64_t{1} << 18;        // kServer, kTrace: samples unanswered at once, beyond which a run is given up
  bool keeps_due = false;      // the result has when each answered sample was due
  double answer_limit_s = 60;  // without any answer or token for so long, the system counts as hung
  bool tokens = false;         // the token-streaming form: first tokens and tokens are reported
};

// "bad-usage" with the field in `where`: not positive, beyond the limits above, a query larger than the data set ...
Status check(const LoadSettings& settings);

}  // namespace perfcast::ai
