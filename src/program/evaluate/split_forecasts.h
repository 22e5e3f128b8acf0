#pragma once
// Every fold of every repetition, forecast by every model.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"
#include "program/evaluate/evaluation_options.h"
#include "program/evaluate/fold_forecast.h"
#include "program/evaluate/repetition.h"

namespace perfcast::program {

// [model][repetition]: rows and columns of the whole table, each entry by the fold that left it out; NaN where none
// did. Runs on options.threads threads; the result does not depend on them. Errors name model and fold.
Result<std::vector<std::vector<FoldForecast>>> forecast_splits(const TrainingTable& table,
                                                               const EvaluationOptions& options,
                                                               const std::vector<std::string>& models,
                                                               const std::vector<Repetition>& repetitions,
                                                               int64_t reference);

}  // namespace perfcast::program
