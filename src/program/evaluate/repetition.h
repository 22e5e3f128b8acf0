#pragma once
// One repetition's split, the same for all models.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"
#include "program/corpus/splits.h"
#include "program/evaluate/evaluation_options.h"

namespace perfcast::program {

struct Repetition {
  uint64_t seed = 0;
  std::vector<Fold> folds;
  std::vector<std::vector<int64_t>> measured;  // per fold: columns that count as measured
};

// "empty-corpus" where there are fewer than two folds.
Result<std::vector<Repetition>> make_repetitions(const TrainingTable& table, const EvaluationOptions& options);

}  // namespace perfcast::program
