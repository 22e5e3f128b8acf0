#pragma once
// Times of one copy of a program as a model forecasts them, for scores of whole servers: the program's family left out.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"
#include "program/evaluate/evaluation_options.h"
#include "program/evaluate/fold_forecast.h"
#include "program/model/scaling/scaling_table.h"

namespace perfcast::program {

struct OneCopyForecast {
  std::string model;
  std::vector<std::string> platforms;  // ids
  FoldForecast forecast;               // [programs of the scaling table x platforms], relative to their mean
};

// Of options: models, seed, threads, inner_folds, settings, progress. Programs of the scaling table need not be the
// training table's. Errors name model and family.
Result<std::vector<OneCopyForecast>> forecast_one_copy(const ScalingTable& scaling, const TrainingTable& training,
                                                       const EvaluationOptions& options);

}  // namespace perfcast::program
