#pragma once
// One published result of an AI benchmark, as its submission states it: what a system did on a model in a scenario.

#include <cstdint>
#include <optional>
#include <string>

#include "base/unknown.h"

namespace perfcast::ai {

inline constexpr const char* kTrainingScenario = "Training";

struct PublishedResult {
  std::string version, division, submitter, platform, model;
  std::string scenario;     // "Offline", "Server", "SingleStream", "MultiStream", or kTrainingScenario
  std::string accelerator;  // as the submission writes it; empty, "-" or "N/A": none, the CPUs compute
  std::string host_cpu, framework, system_type;
  std::optional<int64_t> accelerators_per_node, nodes, host_cpus_per_node;  // absent where no whole number is stated
  bool valid = true;                                                        // by the submission's own log
  double samples_per_s = kUnknown, tokens_per_s = kUnknown;
  double mean_latency_s = kUnknown, p90_latency_s = kUnknown, p99_latency_s = kUnknown;  // of a query
  double power_w = kUnknown;     // mean of the whole system while it ran; most submissions measure none
  double training_s = kUnknown;  // time to the quality target: see training_results.h
  int64_t runs = 1;              // that `training_s` is made from
  size_t line = 0;               // of its table

  bool has_accelerator() const { return !(accelerator.empty() || accelerator == "-" || accelerator == "N/A"); }
  int64_t accelerators() const { return accelerators_per_node.value_or(1) * nodes.value_or(1); }
};

// Samples of one query of the scenario MultiStream.
inline constexpr double kMultiStreamSamples = 8;

// Samples (of training: whole trainings) in a second, what systems are compared by: of the scenario's own metric.
//   Offline, Server   samples per second
//   SingleStream      1 / the 90th percentile of the latency, or where it isn't stated the mean
//   MultiStream       8 / the 99th percentile of a query's latency, or the mean
//   Training          1 / the time to the quality target
// kUnknown where the row states none of it.
double result_rate_per_s(const PublishedResult& result);

// Whether the rate grows with the number of accelerators: in SingleStream and MultiStream one query is under way.
bool scales_with_accelerators(const std::string& scenario);

}  // namespace perfcast::ai
