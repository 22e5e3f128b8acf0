#pragma once
// The options of `bench run`.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "ai/load/load_settings.h"
#include "ai/rules/field_demand.h"
#include "ai/serving/drawn_trace.h"
#include "ai/system/system_spec.h"

namespace perfcast::cli {

inline constexpr const char* kNone = "none";
enum class BenchMode { kPerformance, kAccuracy, kBoth };
enum class ScenarioChoice { kSingleStream, kMultiStream, kServer, kOffline, kAll };

struct BenchArguments {
  ScenarioChoice scenario = ScenarioChoice::kSingleStream;
  BenchMode mode = BenchMode::kPerformance;
  ai::SystemSpec system;
  double target_qps = 0, accuracy = 0, least_accuracy = 0, percentile = 0;
  std::string duration, max_duration, latency, ttft, tpot, answer_limit = "60s", ready_limit = "120s";
  std::string warm_up = "10", log, reference, rules_file;
  int64_t min_queries = 0, max_queries = 0, total_samples = 0, samples_per_query = 8;
  int64_t max_outstanding = ai::LoadSettings{}.max_outstanding;
  bool equal_issue = false, tokens = false, find_peak = false, high_accuracy = false, no_energy = false;
  bool forecast = false;
  int64_t forecast_rounds = 3;
  double peak_precision = 2;
  ai::BenchmarkChoice choice;
  std::vector<std::string> objectives, meters;
  // As clients of services send requests, in the place of a scenario.
  std::vector<std::string> concurrency, rates;
  std::string trace, report;
  ai::TraceShape shape;
  bool all_points = false, no_overhead = false;
  const CLI::App* verb = nullptr;  // knows which options were given

  bool given(const char* option) const { return verb->count(option) > 0; }
};

void add_bench_run_options(CLI::App& verb, BenchArguments& arguments);

}  // namespace perfcast::cli
