#pragma once
// Published results of MLPerf inference from a table of them in CSV, one row for each performance log. Columns that it
// must have: version, division, submitter, platform, model, scenario, samples_per_s, tokens_per_s, mean_latency_ns,
// accelerator, accel_per_node, nodes, framework. Taken where they are there: valid, p90_latency_ns, p99_latency_ns,
// avg_power_w, host_cpu, host_cpus_per_node, system_type.

#include <string>
#include <string_view>
#include <vector>

#include "ai/results/published_result.h"
#include "base/result.h"

namespace perfcast::ai {

// In the table's order; numbers that aren't above zero are missing. "missing-column", "bad-number".
Result<std::vector<PublishedResult>> parse_inference_results(std::string_view csv, const std::string& source);

}  // namespace perfcast::ai
