#pragma once
// Splits to scores: fits models on the training side of every fold, scores them on the other, beside the baselines.

#include "base/result.h"
#include "program/corpus/corpus.h"
#include "program/evaluate/evaluation.h"
#include "program/evaluate/evaluation_options.h"

namespace perfcast::program {

// Deterministic in the options whatever `threads` is. "unknown-model", "unknown-platform", "bad-usage", "empty-corpus"
// (too little to split), or what a fit failed with, naming model and fold.
Result<Evaluation> evaluate(const TrainingTable& table, const EvaluationOptions& options);

}  // namespace perfcast::program
