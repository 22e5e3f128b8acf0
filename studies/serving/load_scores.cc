#include "studies/serving/load_scores.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/statistics.h"

namespace perfcast::ai::serving_study {

LoadScore load_score(std::string load, const LoadFigure& figure, std::string part, std::string predictor,
                     const std::vector<double>& ratios) {
  std::vector<double> errors, signed_errors;
  for (const double ratio : ratios) {
    if (std::isnan(ratio)) continue;
    errors.push_back(std::abs(ratio - 1));
    signed_errors.push_back(ratio - 1);
  }
  const auto near = std::count_if(errors.begin(), errors.end(), [](double error) { return error <= 0.3; });
  const auto n = static_cast<int64_t>(errors.size());
  return {.load = std::move(load),
          .what = figure.name,
          .part = std::move(part),
          .predictor = std::move(predictor),
          .n = n,
          .median_error = median(errors),
          .mean_error = mean(errors),
          .within_30 = static_cast<double>(near) / static_cast<double>(n),
          .bias = median(signed_errors)};
}

ReportTable load_scores_table(const std::vector<LoadScore>& scores) {
  using enum Quantity;
  return table_of<LoadScore>(
      "", scores,
      {{"load", "load", kText, [](const LoadScore& score) { return score.load; }},
       {"figure", "figure", kText, [](const LoadScore& score) { return score.what; }},
       {"part", "part", kText, [](const LoadScore& score) { return score.part; }},
       {"predictor", "forecast by", kText, [](const LoadScore& score) { return score.predictor; }},
       {"n", "n", kCount, [](const LoadScore& score) { return score.n; }},
       {"median_error", "median error", kShare, [](const LoadScore& score) { return score.median_error; }, 1},
       {"mean_error", "mean error", kShare, [](const LoadScore& score) { return score.mean_error; }, 1},
       {"within_30", "within 30%", kShare, [](const LoadScore& score) { return score.within_30; }, 1},
       {"bias", "bias", kShare, [](const LoadScore& score) { return score.bias; }, 1},
       {"coverage_90", "90% intervals hold", kShare, [](const LoadScore& score) { return score.coverage_90; }, 1}});
}

}  // namespace perfcast::ai::serving_study
