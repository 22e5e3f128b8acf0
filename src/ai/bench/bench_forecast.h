#pragma once
// What is forecast of a transformer under load on this machine, beside what the load measured: forecasts of steps,
// learned from other transformers that ran here, followed through the queue as the load put it.

#include <functional>
#include <string>
#include <vector>

#include "ai/bench/bench_run.h"
#include "ai/bench/llm_forecast_steps.h"
#include "ai/transformer_forecast/transformer_comparison.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

enum class ForecastQuantity { kFirstToken, kPerToken, kTokensPerS, kJoulesPerToken };

struct BenchForecastRow {
  LoadScenario scenario = LoadScenario::kSingleStream;
  ForecastQuantity quantity = ForecastQuantity::kFirstToken;  // seconds, tokens/s or joules; means over answers
  double forecast = 0, lower = 0, upper = 0;                  // 90%; NaN where `no_interval` says why there is none
  double measured = kUnknown;
  std::vector<std::string> no_interval;
  // Where what was measured lies outside of the interval: the operator that most of the steps' difference is of; empty
  // where the steps by themselves lie within theirs.
  std::string farthest_operator;

  bool outside() const { return measured < lower || measured > upper; }
};

struct BenchForecast {
  TransformerComparison comparison;
  std::vector<BenchForecastRow> rows;  // of energy where the run has joules of the scope that the calibration has
  std::vector<LlmForecastStep> llm_steps;
  std::string no_llm_steps;  // why there are none
};

// `request`: of one model, with the lengths, the precision and the threads of the system that was measured; its batches
// are 1 and `slots`. Reports without a valid answer have no rows. Errors of compare_with_forecast().
Result<BenchForecast> forecast_bench(ComparisonRequest request, int64_t slots, const std::vector<BenchReport>& reports,
                                     const std::function<void(const std::string&)>& progress);
// The rows of a comparison alone.
Status add_forecast_rows(int64_t slots, const std::vector<BenchReport>& reports, BenchForecast& forecast);

std::string title_of(ForecastQuantity quantity);
Json to_json(const BenchForecast& forecast);

}  // namespace perfcast::ai
