#pragma once
// Results of load tests on services, of `bench run` and of other tools, in one form.
//
//   tool             file
//   perfcast         --json of `bench run`: perfcast.bench/1, perfcast.bench.all/1, perfcast.bench.sweep/1
//   guidellm         its JSON report: one run for each of its "benchmarks"
//   vLLM             JSON of `vllm bench serve` and of benchmark_serving.py; appended results have a line each
//   SGLang           JSON lines of bench_serving
//   AIPerf           profile_export_aiperf.json; genai-perf's profile_export_genai_perf.json has the same form
//   inference-perf   *_lifecycle_metrics.json
//
// Tools give one name to different quantities. Here a name means one thing: `tpot` is (last - first token) / (tokens -
// 1) of each answer, `gap` the time from one piece of a stream to the next, pooled over all answers.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast::ai {

enum class LoadTool { kPerfcast, kGuidellm, kVllm, kSglang, kAiperf, kGenaiPerf, kInferencePerf };
std::string to_string(LoadTool tool);

// Seconds; absent: the file doesn't say, or says 0, which is what tools write of what they couldn't measure.
struct RunTimes {
  std::optional<double> mean_s, p50_s, p90_s, p95_s, p99_s;
};

struct LoadRun {
  std::string source;  // the file; of a file with several runs also which: "guide.json#2"
  LoadTool tool = LoadTool::kPerfcast;
  std::string model;  // or the system, where no model is named
  std::string load;   // "5/s", "8 at once"
  std::optional<double> answered, failed, duration_s;
  std::optional<double> requests_per_s, output_tokens_per_s;
  std::optional<double> prompt_tokens, output_tokens;  // of a request, in the mean
  RunTimes latency, ttft, tpot, gap;
  RunTimes lateness;  // sent later than planned; tools other than perfcast don't count it as latency
};

// Errors: "bad-json" with line and column, "unknown-results" where the file is none of these, "no-figures" where no
// run has a figure that is known here, "too-many-runs" above 10,000. Single runs without figures are left out, with a
// note; so are figures that are texts or below 0.
Result<std::vector<LoadRun>> read_load_runs(std::string_view text, const std::string& source,
                                            std::vector<std::string>* notes = nullptr);

// How a tool measures what it reports, in a few words each.
struct RunDefinitions {
  std::string starts;       // what latency and time to first token count from
  std::string tokens;       // who counts an answer's tokens
  std::string tpot, gap;    // its names for them, and what is different
  std::string percentiles;  // how they are taken
};
RunDefinitions definitions_of(LoadTool tool);

}  // namespace perfcast::ai
