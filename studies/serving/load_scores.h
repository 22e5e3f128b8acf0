#pragma once
// Scores of forecasts of loads, as the studies of services print them.

#include <cstdint>
#include <string>
#include <vector>

#include "base/report/table.h"
#include "base/unknown.h"
#include "studies/serving/client_load.h"

namespace perfcast::ai::serving_study {

struct LoadFigure {
  const char* name;
  double Delivered::*member;
};
inline constexpr LoadFigure kLoadFigures[] = {{"tokens/s", &Delivered::tokens_per_s},
                                              {"further token, median", &Delivered::further_s},
                                              {"first token, median", &Delivered::first_s},
                                              {"first token, 95%", &Delivered::first_p95_s}};

struct LoadScore {
  std::string load, what, part, predictor;
  int64_t n = 0;
  double median_error = kUnknown, mean_error = kUnknown, within_30 = kUnknown, bias = kUnknown;
  double coverage_90 = kUnknown;  // of intervals, where a forecast has them
};

// Of forecast over measured; unknown ones are left out.
LoadScore load_score(std::string load, const LoadFigure& figure, std::string part, std::string predictor,
                     const std::vector<double>& ratios);

ReportTable load_scores_table(const std::vector<LoadScore>& scores);

}  // namespace perfcast::ai::serving_study
