#pragma once
// Every fold of every repetition, forecast by every model.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "corpus/corpus.h"
#include "corpus/splits.h"
#include "evaluate/evaluate.h"
#include "evaluate/fold_forecast.h"

namespace perfcast {

// One repetition's split, the same for all models.
struct Repetition {
  uint64_t seed = 0;
  std::vector<Fold> folds;
  std::vector<std::vector<int64_t>> measured;  // per fold: columns that count as measured
};

// "empty-corpus" where there are fewer than two folds.
Result<std::vector<Repetition>> make_repetitions(const TrainingTable& table, const EvaluationOptions& options);

// [model][repetition]: rows and columns of the whole table, each entry by the fold that left it out; NaN where none
// did. Runs on options.threads threads; the result does not depend on them. Errors name model and fold.
Result<std::vector<std::vector<FoldForecast>>> forecast_splits(const TrainingTable& table,
                                                               const EvaluationOptions& options,
                                                               const std::vector<std::string>& models,
                                                               const std::vector<Repetition>& repetitions,
                                                               int64_t reference);

}  // namespace perfcast
