#pragma once
// A result that nobody published, as a person describes it, and its forecast.
//   accelerator=h100, count=8, model=bert-99, scenario=Offline [, nodes=1] [, version=v4.1] [, submitter=NAME]

#include <string>
#include <string_view>
#include <vector>

#include "ai/results/result_model.h"
#include "ai/results/result_scores.h"
#include "base/result.h"

namespace perfcast::ai {

// "bad-usage" for what isn't key=value, unknown, given twice, or missing (accelerator, model and scenario are needed).
Result<PublishedResult> parse_result_query(std::string_view text);

struct ForecastResult {
  ResultRow row;
  double rate_per_s = kUnknown, lower = kUnknown, upper = kUnknown;  // of the whole system; 90%
  double baseline_per_s = kUnknown;                                  // scaling by peak FLOP/s
  double tokens_per_sample = kUnknown;          // median of the model's results, where they state tokens
  ResultSplit novelty = ResultSplit::kSystem;   // what the interval is calibrated for
  size_t same_accelerator = 0, same_model = 0;  // results that were learned from
};

// Of rows whose model and scenario some of `rows` have. Errors: those of the model.
Result<std::vector<ForecastResult>> forecast_rows(const std::vector<ResultRow>& rows,
                                                  const std::vector<ResultRow>& asked, const ResultFitOptions& options);

// The row of a description; without a version, of the model's newest. "unknown-model", "unknown-scenario",
// "unknown-accelerator" (usage), each with the nearest names.
Result<ResultRow> asked_row(const std::vector<ResultRow>& rows, const PublishedResult& asked,
                            const std::vector<DeviceFacts>& devices);

// Results that were kept apart, forecast from `rows`.
struct KeptApart {
  std::vector<ForecastResult> forecasts;  // of those that could be
  std::vector<ScoredRow> rows;            // `row` counts in `forecasts`
  std::vector<ResultScore> scores;        // "all", "known accelerator", "new accelerator", "new generation"
  size_t without = 0;                     // whose model or scenario no row has
};
Result<KeptApart> check_kept_apart(const std::vector<ResultRow>& rows, const std::vector<ResultRow>& kept_apart,
                                   const ResultFitOptions& options);

}  // namespace perfcast::ai
