#pragma once
// Inputs of Gavel's evaluation (Narayanan et al., "Heterogeneity-aware cluster scheduling policies for deep learning
// workloads", OSDI 2020): steps per second of deep-learning job types on GPUs, job traces, and the generator of its
// continuous trace.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

// A job type on a number of GPUs.
struct GavelJobType {
  std::string name;  // "ResNet-50 (batch size 64)"
  int32_t gpus = 1;  // the "scale factor"
};

struct GavelThroughputs {
  std::vector<std::string> platforms;  // J: "k80", "p100", "v100", as the columns are named
  std::vector<GavelJobType> types;     // T; each (name, gpus) once
  std::vector<double> steps_per_s;     // [T x J] with the GPUs together on as few servers as can be; NaN: can't run

  // Index into `types`, or -1.
  int64_t find(std::string_view name, int64_t gpus) const;
};

// A table *_throughputs_isolated.csv: job_type, scale_factor, then a column for each platform. Columns that end in
// "_unconsolidated" (GPUs spread over servers) are left out. 0 or blank: can't run. "bad-gavel-table" and CSV's errors.
Result<GavelThroughputs> parse_gavel_throughputs(std::string_view csv, const std::string& source);

struct GavelTraceJob {
  std::string trace, job_type;
  int32_t gpus = 1;
  double steps = 0, arrival_s = 0;
  double priority = 1;
};

// A table of traces: trace, job_type, scale_factor, total_steps, arrival_s, priority_weight (blank: 1). Further columns
// aren't read. "bad-gavel-trace" and CSV's errors.
Result<std::vector<GavelTraceJob>> parse_gavel_traces(std::string_view csv, const std::string& source);

// The jobs of one trace (`trace` empty: of all), in order of arrival, one program per type. Times are steps / steps per
// second. Jobs whose type the table lacks at that number of GPUs keep their place and can run nowhere; a note counts
// them. "unknown-trace" names those there are.
Result<Workload> gavel_workload(const GavelThroughputs& throughputs, const std::vector<GavelTraceJob>& jobs,
                                std::string_view trace);

struct GavelTraceOptions {
  int64_t jobs = 6000;
  double jobs_per_hour = 4;
  uint64_t seed = 0;
  std::string duration_on = "v100";  // the platform that durations are drawn for
};

// The continuous trace of single-GPU jobs: Poisson arrivals; types uniform over those with one GPU; minutes on
// `duration_on` 10^u, u uniform in [1.5, 3] with probability 0.8, else in [3, 4]. "bad-usage" for options out of range,
// "missing-platform", "bad-gavel-table" where no type of one GPU runs on `duration_on`.
Result<Workload> generate_gavel_trace(const GavelThroughputs& throughputs, const GavelTraceOptions& options);

}  // namespace perfcast::fleet
